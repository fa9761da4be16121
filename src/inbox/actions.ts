import { ValidationError } from '../errors.ts';
import { printable, shownWriteKey } from '../redact.ts';
import { messagesOf } from '../receiver/messages/messages-of.ts';
import { trackingCallOf } from '../receiver/messages/tracking-call.ts';
import { pairsOf, type Forwarded, type ForwardRequest } from '../receiver/response/forwarding.ts';
import { captureOf } from './details.ts';
import type { RequestStore, StoredRequest } from './request-store.ts';
import type { EditedRequest } from './wire.ts';
import { isHeaderPair } from '../capture/read-capture.ts';

/** Functions that send a received request again. */
export interface Resending {
  /** Sends a request to the forwarding URL or to a URL of this machine. Throws HooksError for other URLs. */
  readonly replay: (request: ForwardRequest, url: string | undefined) => Promise<Forwarded>;
  /** Signs an edited request with the secret of the receiver. Undefined if there is no secret. */
  readonly sign?: ((request: ForwardRequest) => ForwardRequest) | undefined;
}

/** Sends a request again, unchanged or edited. Does not check permissions. */
export function resend(
  kept: StoredRequest,
  body: Readonly<Record<string, unknown>>,
  { replay, sign }: Resending,
): Promise<Forwarded> {
  const url = typeof body['url'] === 'string' ? body['url'] : undefined;
  if (body['edited'] === undefined) return replay(kept.request, url);
  const edited = readEdited(body['edited']);
  const request = { rawHeaders: rawHeadersOf(edited, kept), body: Buffer.from(bodyOf(edited, kept)) };
  return replay(edited.isSigned && sign !== undefined ? sign(request) : request, url);
}

/** Returns the captures of the requests with these ids as NDJSON, in the order of `ids`. Skips evicted requests. */
export function captureLines(
  store: RequestStore,
  { ids }: Readonly<Record<string, unknown>>,
): Iterable<string> {
  if (!Array.isArray(ids)) throw new TypeError('Expected a list as `ids`');
  return linesOf(store, ids);
}

function* linesOf(store: RequestStore, ids: readonly unknown[]): Generator<string> {
  for (const id of ids) {
    const kept = typeof id === 'number' ? store.get(id) : undefined;
    if (kept !== undefined) yield `${JSON.stringify(captureOf(kept))}\n`;
  }
}

/** Reads an edited request. Throws TypeError if its shape is wrong, which never happens with requests of the page. */
function readEdited(value: unknown): EditedRequest {
  const { headers, body, isSigned } = Object(value) as Readonly<Record<string, unknown>>; // checked below
  if (!Array.isArray(headers) || !headers.every(isHeaderPair)) {
    throw new TypeError('Expected pairs as `headers`');
  }
  if (typeof body !== 'string') throw new TypeError('Expected a text as `body`');
  return { headers, body, isSigned: isSigned === true };
}

/** Replaces shortened write keys by the original ones, because the page gets only their last characters. */
function bodyOf({ body }: EditedRequest, { request }: StoredRequest): string {
  const messages = trackingCallOf(request)?.messages ?? messagesOf(request);
  const keys = new Set(messages.map(({ writeKey }) => writeKey ?? ''));
  return [...keys].reduce(
    (text, key) => text.replaceAll(`"${shownWriteKey(key)}"`, () => JSON.stringify(key)),
    body,
  );
}

/** Replaces headers that were not edited by the original ones, because the page gets secret values only masked. */
function rawHeadersOf({ headers }: EditedRequest, kept: StoredRequest): string[] {
  const came = pairsOf(kept.request.rawHeaders);
  const shown = captureOf(kept).headers;
  const taken = new Set<number>();
  return headers.flatMap(([name, value]) => {
    const index = shown.findIndex((pair, at) => !taken.has(at) && pair[0] === name && pair[1] === value);
    if (index === -1) return validHeader(name, value);
    taken.add(index);
    return came[index] ?? [];
  });
}

/** Returns the header. Throws ValidationError if HTTP does not allow its name or value (RFC 9110, 5.5 and 5.6.2). */
function validHeader(name: string, value: string): [name: string, value: string] {
  if (!/^[!#$%&'*+\-.^_`|~\w]+$/.test(name)) {
    throw new ValidationError(`Expected the name of a header, got \`${printable(name, 80)}\``, {
      path: 'headers',
      hint: 'write each header as `Name: value` on its own line',
    });
  }
  if (!/^[\t\u0020-\u007e\u0080-\u00ff]*$/.test(value)) {
    throw new ValidationError(`Expected a value without control characters in the header ${name}`, {
      path: 'headers',
      hint: 'use ASCII or Latin-1 characters',
    });
  }
  return [name, value];
}
