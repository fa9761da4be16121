import { messageFacts, messagesOf } from '../receiver/messages/messages-of.ts';
import type { ReceivedMessage } from '../receiver/messages/tracking-call.ts';
import type { ReceivedRequest } from '../receiver/received-request.ts';
import { redactUrl } from '../redact.ts';
import type { DescribeViolations } from './plan-violations.ts';
import type { FactsAmong, RequestSummary } from './wire.ts';

export interface StoreLimits {
  /** Maximum number of requests to keep. @default 20_000 */
  readonly requests: number;
  /** Maximum total bytes of bodies, headers and responses of the kept requests. @default 67_108_864 (64 MiB) */
  readonly bytes: number;
}

const STORE_LIMITS: StoreLimits = { requests: 20_000, bytes: 64 * 1024 * 1024 };

/** A kept request, with the secrets that a replay sends. Only the summary and details.ts may show parts of it. */
export interface StoredRequest {
  readonly summary: RequestSummary;
  /**
   * The request without its messages, which need several times the memory of its bytes. They are parsed again if the request
   * is opened.
   */
  readonly request: Omit<ReceivedRequest, 'call'>;
  /** Approximate memory of the request. */
  readonly keptBytes: number;
}

/** The latest requests, in memory. Evicts the oldest requests if there are too many, or if all together are too large. */
export class RequestStore {
  readonly #limits: StoreLimits;
  readonly #violations: DescribeViolations;
  readonly #kept: StoredRequest[] = [];
  #firstId = 1;
  #bytes = 0;
  #evicted = 0;

  constructor(limits: Partial<StoreLimits> = {}, violations: DescribeViolations = () => []) {
    this.#violations = violations;
    this.#limits = { ...STORE_LIMITS, ...limits };
  }

  /** Id of the oldest kept request, or of the next request if there is none. */
  get firstId(): number {
    return this.#firstId;
  }

  get nextId(): number {
    return this.#firstId + this.#kept.length;
  }

  /** Number of evicted requests since the start or the last clear(). */
  get evicted(): number {
    return this.#evicted;
  }

  add(received: ReceivedRequest): void {
    // Summarizes the original body, not the copy below: parsed messages are cached per body, and the cache drops them with
    // that body.
    const summary = summaryOf(received, this.nextId, this.#violations);
    const { call: _call, ...rest } = received;
    // Copies the body, because a body from a socket shares its memory with everything else that was read.
    const request = { ...rest, body: new Uint8Array(received.body) };
    const keptBytes = bytesOf(request) + JSON.stringify(summary).length;
    this.#kept.push({ request, summary, keptBytes });
    this.#bytes += keptBytes;
    const { requests, bytes } = this.#limits;
    while (this.#kept.length > requests || (this.#bytes > bytes && this.#kept.length > 1)) this.#evict();
  }

  get(id: number): StoredRequest | undefined {
    return this.#kept[id - this.#firstId];
  }

  /** Replaces the diagnosis of a request, unless the request was evicted or cleared. */
  diagnose(id: number, diagnosis: ReceivedRequest['diagnosis']): void {
    const kept = this.get(id);
    if (kept === undefined) return;
    const { diagnosis: _earlier, ...rest } = kept.request;
    this.#kept[id - this.#firstId] = { ...kept, request: { ...rest, ...(diagnosis && { diagnosis }) } };
  }

  /** At most `limit` requests in order, from this id on. */
  since(id: number, limit: number): readonly StoredRequest[] {
    const start = Math.max(0, id - this.#firstId);
    return this.#kept.slice(start, start + limit);
  }

  /** Removes all requests. Ids are not used again, so that no link leads to another request. */
  clear(): void {
    this.#firstId = this.nextId;
    this.#kept.length = 0;
    this.#bytes = 0;
    this.#evicted = 0;
  }

  #evict(): void {
    const oldest = this.#kept.shift();
    if (oldest === undefined) return;
    this.#firstId += 1;
    this.#evicted += 1;
    this.#bytes -= oldest.keptBytes;
  }
}

/** Memory of a request besides its texts. */
const OVERHEAD_BYTES = 1024;

function bytesOf({ body, rawHeaders, path, response, forwarded }: StoredRequest['request']): number {
  const headers = rawHeaders.reduce((sum, text) => sum + text.length, 0);
  const responses = (response?.body.length ?? 0) + JSON.stringify(forwarded ?? '').length;
  return body.byteLength + headers + path.length + responses + OVERHEAD_BYTES;
}

/** Maximum length in a summary of a text that the sender chooses, such as an event. The body keeps the whole text. */
const MAX_FACT_LENGTH = 200;

function summaryOf(request: ReceivedRequest, id: number, violations: DescribeViolations): RequestSummary {
  const { at, method, path, verdict, note, status = null, answered, body, ms, call } = request;
  const messages = messagesOf(request);
  const [sole] = messages;
  const named = messages.length === 1 && sole !== undefined ? messageFacts(sole) : {};
  const facts = Object.entries(named).map(([name, text]) => [name, shortened(String(text))]);
  const problem = call?.rejection?.message;
  const unplanned = messages.filter(({ value }) => violations(value).length > 0).length;
  return {
    ...(messages.length > 1 && { messages: messages.length, among: factsAmong(messages) }),
    ...(verdict === 'valid' && note !== undefined && { isRestringified: true }),
    ...(problem !== undefined && { problem: shortened(problem) }),
    ...(unplanned > 0 && { unplanned }),
    ...(Object.fromEntries(facts) as Record<string, string>), // the values of facts are strings
    id,
    at,
    method,
    path: shortened(redactUrl(path)),
    verdict,
    status,
    answered,
    bytes: body.byteLength,
    ms,
  };
}

/** Maximum number of types, of events and of users of a batch in its summary. */
const MAX_AMONG = 10;

function factsAmong(messages: readonly ReceivedMessage[]): FactsAmong {
  const [types, events, users] = [new Set<string>(), new Set<string>(), new Set<string>()];
  for (const message of messages) {
    const { type, event, userId, anonymousId } = messageFacts(message);
    addFact(types, type);
    addFact(events, event);
    addFact(users, userId ?? anonymousId);
  }
  return { types: [...types], events: [...events], users: [...users] };
}

function addFact(known: Set<string>, fact: string | undefined): void {
  if (fact !== undefined && known.size < MAX_AMONG) known.add(shortened(fact));
}

function shortened(text: string): string {
  return text.length > MAX_FACT_LENGTH ? `${text.slice(0, MAX_FACT_LENGTH)}…` : text;
}
