import { hash, randomBytes } from 'node:crypto';
import { ValidationError } from '../errors.ts';
import { printable } from '../redact.ts';

/**
 * A W3C trace context that was received with a call and is stored with a delivery: a valid `traceparent`, followed by a
 * space and the `tracestate` if the call had one.
 */
export type TraceContext = string;

/** Trace headers of an attempt, and its ids for logs. */
export interface AttemptTrace {
  readonly traceId: string;
  readonly spanId: string;
  /** Trace headers, as names and values in turn: name, value, name, value … */
  readonly headers: readonly string[];
}

/**
 * Version, trace id, id of the caller's span, flags. Later versions can append more after a dash (W3C Trace Context, 3.2.2
 * and 4.3).
 */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;
/** Flags of `traceparent` to propagate: sampled, and random trace id. Later versions may define others. */
const KNOWN_FLAGS = 0x03;
const SAMPLED = '01';

type HeaderValue = string | readonly string[] | undefined;

/**
 * Reads the headers of a call. Undefined if `traceparent` is absent or malformed, since `tracestate` means nothing without
 * it (4.3).
 */
export function readTraceContext(headers: Readonly<Record<string, HeaderValue>>): TraceContext | undefined {
  const { traceparent, tracestate } = headers;
  if (typeof traceparent !== 'string') return undefined;
  const [, version, traceId, parentId, flags, more] = TRACEPARENT.exec(traceparent) ?? [];
  if (flags === undefined || (version === '00' && more !== undefined)) return undefined;
  const known = (Number.parseInt(flags, 16) & KNOWN_FLAGS).toString(16).padStart(2, '0');
  const state = passedState(typeof tracestate === 'string' ? tracestate : '');
  return `00-${traceId}-${parentId}-${known}${state === '' ? '' : ` ${state}`}`;
}

/** Reads the headers that a caller passes with a message. Throws ValidationError if `traceparent` is malformed. */
export function givenTraceContext(given: Readonly<Record<string, HeaderValue>>): TraceContext | undefined {
  const { traceparent } = given;
  const context = readTraceContext(given);
  if (context !== undefined || traceparent === undefined) return context;
  const got = printable(String(traceparent), 80);
  throw new ValidationError(`Expected \`traceparent\` to be a header of W3C Trace Context, got ${got}`, {
    path: 'traceparent',
    got,
    hint: 'pass the header as received, or leave it out to start a new trace',
  });
}

/** A member of `tracestate`: a key, optionally with a tenant, and a value of printable ASCII (3.3.1). */
const MEMBER =
  /^(?:[a-z][-_*/\da-z]{0,255}|[a-z\d][-_*/\da-z]{0,240}@[a-z][-_*/\da-z]{0,13})=(?=.*[!-~])[ -+\--<>-~]{1,256}$/;
const MOST_MEMBERS = 32;
/** Length up to which a `tracestate` must be propagated. A longer one loses its last, oldest members (3.3.1.5). */
const LONGEST_STATE = 512;

/** Returns the `tracestate` to propagate. Empty if the received state is malformed. */
function passedState(given: string): string {
  const members = given.split(',').flatMap((member) => member.trim() || []);
  if (members.length > MOST_MEMBERS || !members.every((member) => MEMBER.test(member))) return '';
  while (members.join(',').length > LONGEST_STATE) members.pop();
  return members.join(',');
}

/**
 * Starts the span of one attempt in the trace of the call. If the call had no trace, derives the trace id from the delivery
 * id, so that all attempts of the delivery, in any process, share a trace.
 */
export function traceAttempt(context: TraceContext | undefined, deliveryId: string): AttemptTrace {
  const [traceparent = '', state] = context?.split(/ (.*)/s) ?? [];
  const [, , cameIn, , flags = SAMPLED] = TRACEPARENT.exec(traceparent) ?? [];
  const traceId = cameIn ?? hash('sha256', deliveryId, 'hex').slice(0, 32);
  const spanId = randomBytes(8).toString('hex');
  const headers = ['traceparent', `00-${traceId}-${spanId}-${flags}`];
  if (cameIn !== undefined && state !== undefined) headers.push('tracestate', state);
  return { traceId, spanId, headers };
}
