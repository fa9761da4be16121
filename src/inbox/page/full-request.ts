import type { Details } from '../wire.ts';

/** A request with its details and its body. */
export interface FullRequest {
  readonly details: Details;
  readonly body: Uint8Array;
  /** The body as text; invalid UTF-8 is replaced. */
  readonly text: string;
}
