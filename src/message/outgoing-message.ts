import { MESSAGE_VERSION } from './fields/fields.ts';
import { shapeOf } from './fields/shape.ts';
import { CLOSE_BRACE, COMMA, OPEN_BRACE } from './json/bytes.ts';
import type { StringifiedText } from './json/stringified.ts';
import { put } from './plain.ts';
import type { TraceContext } from './trace-context.ts';
import type { Integrations, JsonObject, JsonValue, Message } from './types.ts';

/** A message as the client or the service hands it to the router. */
export interface OutgoingMessage {
  readonly messageId: string;
  readonly type: string;
  readonly integrations?: Integrations | undefined;
  /** The exact bytes of the request body, which every attempt sends. */
  readonly body: Uint8Array;
  /** Deliveries with a common order key reach a destination in the order in which they were added. */
  readonly orderKeys: readonly string[];
  /** The message is dropped if one with the same source and key is still in the queue. @default no deduplication */
  readonly dedupeKey?: string | undefined;
  /**
   * Id of the message's first delivery; its further deliveries append their number. A queue ignores an id that it already
   * has. @default new ids
   */
  readonly deliveryId?: string | undefined;
  /** How the message violates the tracking plan: its deliveries are dead letters with this detail. @default none */
  readonly violation?: string | undefined;
  /** Trace context of the call that sent the message, for destinations with tracing. */
  readonly trace?: TraceContext | undefined;
}

/**
 * Makes the request body of a message: the fields of the type's row in their order, the other fields in the order of the
 * message, then `context` (contract, Messages on the wire).
 */
export function toBody(message: Message): JsonObject {
  const body: Record<string, JsonValue> = {};
  eachBodyField(message, (name, value) => put(body, name, value));
  return body;
}

function eachBodyField(message: Message, visit: (name: string, value: JsonValue) => void): void {
  const shape = shapeOf(message.type);
  for (const { name, wireName = name } of shape.row) {
    const value = name === 'version' ? MESSAGE_VERSION : message[name];
    if (value !== undefined) visit(wireName, value);
  }
  for (const name of Object.keys(message)) {
    const value = message[name];
    if (value !== undefined && !shape.placed.has(name)) visit(name, value);
  }
  if (message.context !== undefined) visit('context', message.context);
}

/** The request body as text. Its UTF-8 bytes are signed and sent. JSON.stringify(JSON.parse(body)) gives the same text. */
export function encodeBody(message: Message): string {
  return JSON.stringify(toBody(message));
}

/**
 * Encodes a message like `encodeBody`, from pieces of the bytes that it was built from, which costs a third. `input` is the
 * value of `bytes`. Returns a copy, because `bytes` would keep the surrounding chunk of a file in memory.
 */
export function splicedBody(
  message: Message,
  input: JsonObject,
  { text, starts }: StringifiedText,
  bytes: Uint8Array,
): Uint8Array {
  const names = Object.keys(input);
  const isAscii = text.length === bytes.length;
  const byteStarts: number[] = [];
  const byteStart = (member: number): number => {
    const start = starts[member] ?? text.length;
    return (byteStarts[member] ??= isAscii ? start : Buffer.byteLength(text.slice(0, start)));
  };
  byteStarts[names.length] = bytes.length;
  // The first byte of each piece is the brace or comma before its first member, and is replaced below.
  const pieces: Uint8Array[] = [];
  // The members from `first` to before `next` follow each other in the input and in the body.
  let [first, next] = [0, 0];
  const endRun = (): void => {
    if (next > first) pieces.push(bytes.subarray(byteStart(first) - 1, byteStart(next) - 1));
  };
  eachBodyField(message, (name, value) => {
    const isKept = input[name] === value;
    if (isKept && names[next] === name) {
      next++;
      return;
    }
    endRun();
    const index = isKept ? names.indexOf(name) : -1;
    [first, next] = [Math.max(index, 0), index + 1];
    if (index === -1) pieces.push(Buffer.from(`,${JSON.stringify(name)}:${JSON.stringify(value)}`));
  });
  if (first === 0 && next === names.length && pieces.length === 0) return Buffer.from(bytes);
  endRun();
  const body = Buffer.allocUnsafe(pieces.reduce((sum, { length }) => sum + length, 1));
  let at = 0;
  for (const piece of pieces) {
    body.set(piece, at);
    body[at] = COMMA;
    at += piece.length;
  }
  body[0] = OPEN_BRACE;
  body[at] = CLOSE_BRACE;
  return body;
}

/** Whether the body will have every field of the input `given`, unchanged. `message` was built from that input. */
export function isAllSent(given: Readonly<Record<string, unknown>>, message: Message): boolean {
  const { bySpelling } = shapeOf(message.type);
  for (const name of Object.keys(given)) {
    const value = given[name];
    if (value === undefined) continue;
    if (message[name] !== value || bySpelling.get(name)?.place === 'unsent') return false;
  }
  return true;
}

/**
 * The order keys of a message: its user id, else its anonymous id. An alias has both its ids, so that it stays in order with
 * the messages of each id.
 */
export function orderKeysOf({ type, userId, anonymousId, previousId }: Message): readonly string[] {
  const key = userId ?? anonymousId;
  if (key === undefined) return [];
  const isTwo = type === 'alias' && previousId !== undefined && previousId !== key;
  return isTwo ? [previousId, key] : [key];
}

/**
 * Whether `integrations` enables a destination. All destinations are enabled by default; `All: false` disables those that
 * are not listed as true. Names are case-sensitive; an object counts as true.
 */
export function isEnabled(integrations: Integrations | undefined, destinationName: string): boolean {
  if (integrations === undefined) return true;
  const chosen = own(integrations, destinationName) ?? own(integrations, 'All') ?? true;
  return chosen !== false;
}

/** Reads own properties only, because a destination can be called `constructor`. */
function own(integrations: Integrations, name: string): Integrations[string] | undefined {
  return Object.hasOwn(integrations, name) ? integrations[name] : undefined;
}
