import type { Condition } from '../message/filter.ts';

export interface ExpectedMessage {
  /** The filter as given: `type=track,event=Signup`. */
  readonly text: string;
  readonly conditions: readonly Condition[];
  /** Exactly this many messages match; undefined: one, and others may match too. */
  readonly exactly?: number;
}
