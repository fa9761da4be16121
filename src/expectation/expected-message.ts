import type { Condition } from '../message/filter.ts';

export interface ExpectedMessage {
  /** The filter as given: `type=track,event=Signup`. */
  readonly text: string;
  readonly conditions: readonly Condition[];
  /** Exact number of matching messages. Undefined if one or more must match. */
  readonly exactly?: number;
}
