/** A problem in a message, before it becomes a ValidationError. */
export interface Problem {
  /** Path of the value with the problem, such as `properties.items[3].price`; empty for the message itself. */
  readonly path: string;
  /** The error without the actual value: ``Expected `event` to be …``. */
  readonly sentence: string;
  /** The value with the problem, shortened. */
  readonly got: string;
  readonly hint?: string;
}

/** Describes a value in an error: short, on one line. */
export function shownValue(value: unknown): string {
  if (value === undefined) return 'nothing';
  if (typeof value === 'string') return JSON.stringify(shortened(value));
  if (typeof value === 'bigint') return `the BigInt ${shortened(String(value))}`;
  if (typeof value === 'function') return 'a function';
  if (typeof value === 'symbol') return 'a symbol';
  return typeof value === 'object' && value !== null ? shownObject(value) : String(value); // eslint-disable-line typescript/no-base-to-string -- a number, a boolean or null is left
}

const LONGEST_SHOWN = 60;

export function shortened(text: string): string {
  return text.length > LONGEST_SHOWN ? `${text.slice(0, LONGEST_SHOWN)}…` : text;
}

function shownObject(value: object): string {
  if (Array.isArray(value)) return 'an array';
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'an invalid Date' : 'a Date';
  const tag = Object.prototype.toString.call(value).slice('[object '.length, -1);
  return tag === 'Object' ? 'an object' : `an object of type ${shortened(tag)}`;
}
