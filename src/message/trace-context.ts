import { hash, randomBytes } from 'node:crypto';
import { ValidationError } from '../errors.ts';
import { printable } from '../redact.ts';

/**
 * A W3C trace context as it came with a call and is stored with a delivery: a valid `traceparent`, then after a space the
 * `tracestate`, if there is one.
 */
export type TraceContext = string;

/** What an attempt sends, and the ids by which it is found. */
export interface AttemptTrace {
  readonly traceId: string;
  readonly spanId: string;
  /** Name, value, name, value … */
  readonly headers: readonly string[];
}

/** Version, trace id, id of the caller's span, flags. A later version may go on after another dash (W3C Trace Context, 3.2.2 and 4.3). */
const TRACEPARENT = /^(?!ff)([\da-f]{2})-(?!0{32})([\da-f]{32})-(?!0{16})([\da-f]{16})-([\da-f]{2})(-.*)?$/;
/** The flags that are passed on: sampled, and random trace id. Others are of versions that are not known here. */
const KNOWN_FLAGS = 0x03;
const SAMPLED = '01';

type HeaderValue = string | readonly string[] | undefined;

/** Reads what came with a call. Undefined: nothing, or a malformed `traceparent`, without which `tracestate` means nothing (4.3). */
export function readTraceContext(headers: Readonly<Record<string, HeaderValue>>): TraceContext | undefined {
  const { traceparent, tracestate } = headers;
  if (typeof traceparent !== 'string') return undefined;
  const [, version, traceId, parentId, flags, more] = TRACEPARENT.exec(traceparent) ?? [];
  if (flags === undefined || (version === '00' && more !== undefined)) return undefined;
  const known = (Number.parseInt(flags, 16) & KNOWN_FLAGS).toString(16).padStart(2, '0');
  const state = passedState(typeof tracestate === 'string' ? tracestate : '');
  return `00-${traceId}-${parentId}-${known}${state === '' ? '' : ` ${state}`}`;
}

/** Reads what a caller gives with a message. Throws ValidationError for a malformed `traceparent`. */
export function givenTraceContext(given: Readonly<Record<string, HeaderValue>>): TraceContext | undefined {
  const { traceparent } = given;
  const context = traceparent === undefined ? undefined : readTraceContext(given);
  if (context !== undefined || traceparent === undefined) return context;
  const got = printable(String(traceparent), 80);
  throw new ValidationError(`Expected \`traceparent\` to be one of W3C Trace Context, got ${got}`, {
    path: 'traceparent',
    got,
    hint: 'pass the header as it came, or leave it out to begin a trace',
  });
}

/** A member of `tracestate`: a key, with a tenant or without, and a value of visible ASCII (3.3.1). */
const MEMBER =
  /^(?:[a-z][-_*/\da-z]{0,255}|[a-z\d][-_*/\da-z]{0,240}@[a-z][-_*/\da-z]{0,13})=(?=.*[!-~])[ -+\--<>-~]{1,256}$/;
const MOST_MEMBERS = 32;
/** At least this much has to be passed on; what is longer loses its last members, which are the oldest (3.3.1.5). */
const LONGEST_STATE = 512;

/** The `tracestate` to pass on; empty when it is malformed. */
function passedState(given: string): string {
  const members = given.split(',').flatMap((member) => member.trim() || []);
  if (members.length > MOST_MEMBERS || !members.every((member) => MEMBER.test(member))) return '';
  while (members.join(',').length > LONGEST_STATE) members.pop();
  return members.join(',');
}

/**
 * Begins the span of one attempt: in the trace of the call, else in one of the delivery's own, which its id gives, so that every
 * attempt in every process is in the same.
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
