import { messageFacts, messagesOf } from '../messages/messages-of.ts';
import type { ReceivedRequest } from '../received-request.ts';
import { redactUrl } from '../../redact.ts';
import type { RequestSummary } from './wire.ts';

export interface StoreLimits {
  /** @default 20_000 */
  readonly requests: number;
  /** The most bytes of bodies and headers together. @default 67_108_864 (64 MiB) */
  readonly bytes: number;
}

const STORE_LIMITS: StoreLimits = { requests: 20_000, bytes: 64 * 1024 * 1024 };

/** A request as it is kept: secrets included, since a replay sends them. Nothing of it is shown but by the summary and details.ts. */
export interface StoredRequest {
  readonly summary: RequestSummary;
  readonly request: ReceivedRequest;
}

/** The last requests, in memory: evicts the oldest when there are too many or they are too large. */
export class RequestStore {
  readonly #limits: StoreLimits;
  readonly #kept: StoredRequest[] = [];
  #firstId = 1;
  #bytes = 0;

  constructor(limits: Partial<StoreLimits> = {}) {
    this.#limits = { ...STORE_LIMITS, ...limits };
  }

  /** The id of the oldest request kept; of the next one if there is none. */
  get firstId(): number {
    return this.#firstId;
  }

  get nextId(): number {
    return this.#firstId + this.#kept.length;
  }

  add(received: ReceivedRequest): void {
    // A copy, since a body from a socket shares its memory with everything that was read with it.
    const request = { ...received, body: new Uint8Array(received.body) };
    this.#kept.push({ request, summary: summaryOf(request, this.nextId) });
    this.#bytes += bytesOf(request);
    const { requests, bytes } = this.#limits;
    while (this.#kept.length > requests || (this.#bytes > bytes && this.#kept.length > 1)) this.#evict();
  }

  get(id: number): StoredRequest | undefined {
    return this.#kept[id - this.#firstId];
  }

  /** The requests in order, from this id on. */
  since(id: number, limit: number): readonly StoredRequest[] {
    const start = Math.max(0, id - this.#firstId);
    return this.#kept.slice(start, start + limit);
  }

  #evict(): void {
    const oldest = this.#kept.shift();
    if (oldest === undefined) return;
    this.#firstId += 1;
    this.#bytes -= bytesOf(oldest.request);
  }
}

/** The memory that a request takes besides its body and headers. */
const OVERHEAD_BYTES = 1024;

function bytesOf({ body, rawHeaders, path }: ReceivedRequest): number {
  const headers = rawHeaders.reduce((sum, text) => sum + text.length, 0);
  return body.byteLength + headers + path.length + OVERHEAD_BYTES;
}

/** The most characters of a text that a sender chooses; the whole is in the body. */
const MAX_FACT_LENGTH = 200;

function summaryOf(request: ReceivedRequest, id: number): RequestSummary {
  const { at, method, path, verdict, status = null, answered, body, ms } = request;
  const messages = messagesOf(request);
  const [sole] = messages;
  const named = messages.length === 1 && sole !== undefined ? messageFacts(sole) : {};
  const facts = Object.entries(named).map(([name, text]) => [name, shortened(String(text))]);
  return {
    ...(messages.length > 1 && { messages: messages.length }),
    ...(Object.fromEntries(facts) as Record<string, string>), // the values of facts are texts
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

function shortened(text: string): string {
  return text.length > MAX_FACT_LENGTH ? `${text.slice(0, MAX_FACT_LENGTH)}…` : text;
}
