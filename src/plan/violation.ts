import type { JsonValue } from '../message/types.ts';

/** Kinds of violations, for programs. `other`: a keyword of JSON Schema without a kind of its own. */
export type ViolationKind =
  | 'unplanned-event'
  | 'unplanned-property'
  | 'missing'
  | 'type'
  | 'enum'
  | 'pattern'
  | 'format'
  | 'version'
  | 'other';

/** A difference between a message and its rule in the tracking plan. Texts are not escaped for terminals. */
export interface PlanViolation {
  readonly kind: ViolationKind;
  /** Path of the value, such as `properties.items[3].price`; `message` for the whole message. */
  readonly path: string;
  /** The same path as a JSON pointer (RFC 6901). */
  readonly pointer: string;
  /** Expected value as text after "expected ". */
  readonly expected: string;
  /** The expected value for programs (JSON output). */
  readonly wanted: JsonValue;
  /** Actual value as JSON; `nothing` if the message has none. */
  readonly got: string;
  /** The actual value for programs. Undefined if the message has no value at the path. */
  readonly found: JsonValue | undefined;
  /** The violation as a sentence without a full stop. Contains at most 200 characters of the actual value. */
  readonly sentence: string;
}
