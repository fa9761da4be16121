import type { Dispatcher } from 'undici';
import { elapsedMs } from '../../clock.ts';
import { malformedResponse } from '../network-error.ts';
import { proxyErrorOf } from '../route/dial.ts';
import type { NetworkFailure, TransportResponse } from '../transport.ts';
import type { PendingRequest, ResponseHead } from './pending-request.ts';

export interface ExchangeOwner {
  /** Called when the response has ended, and the connection can carry another request. */
  ended(): void;
  /** Sets the time limit, in milliseconds, for the rest of the response after its headers. */
  limitBody(ms: number): void;
  /** Called when the exchange fails. `error` is undefined if enough of the response was read and the rest is not wanted. */
  broken(error?: Error): void;
}

type Headers = Record<string, string | string[] | undefined>;

/** Maximum number of bytes to read of a body that no attempt needs, before the connection is closed. */
const MAX_BODY_BYTES = 64 * 1024;
const SWITCHING_PROTOCOLS = 101;
/** The error of a connection on which undici starts to write a request a second time. */
const WRITTEN_TWICE = Object.assign(new Error('closed'), { code: 'ECONNRESET' });

/**
 * Receives the response to a request from undici. Each connection reuses one exchange for all its attempts. An attempt gets
 * its result when the status decides it; the exchange continues to the end of the body.
 */
export class Exchange implements Dispatcher.DispatchHandler {
  readonly #owner: ExchangeOwner;
  readonly #isForwarded: boolean;
  #pending: PendingRequest | undefined;
  #isWritten = false;
  #hasBegun = false;
  #interim = 0;
  #head: ResponseHead | undefined;
  #bodyBytes = 0;
  #body: ResponseBody | undefined;

  constructor(owner: ExchangeOwner, isForwarded: boolean) {
    this.#owner = owner;
    this.#isForwarded = isForwarded;
  }

  /** The request in flight. Undefined after its attempt has its result. */
  get pending(): PendingRequest | undefined {
    return this.#pending;
  }

  get isWithoutResponse(): boolean {
    return !this.#hasBegun && this.#head === undefined;
  }

  /** Bytes of the body received so far. */
  get bodyBytes(): number {
    return this.#bodyBytes;
  }

  begin(pending: PendingRequest): void {
    this.#pending = pending;
    this.#isWritten = false;
    this.#hasBegun = false;
    this.#interim = 0;
    this.#head = undefined;
    this.#bodyBytes = 0;
    this.#body = undefined;
  }

  /**
   * Gives the attempt its result, unless it already has one. A status that was received decides the result, even if the
   * attempt fails later.
   */
  conclude(failure?: NetworkFailure, cutBy: TransportResponse['bodyCutBy'] = failure?.error): void {
    const pending = this.#pending;
    if (pending === undefined) return;
    this.#pending = undefined;
    if (this.#head) pending.respond(this.#head, this.#body?.text() ?? '', cutBy);
    else if (failure) pending.fail(failure);
  }

  /** Forgets the attempt, because another connection repeats it. */
  handOver(): void {
    this.#pending = undefined;
  }

  /** Whether the first byte of a response has arrived but not the end of its headers. */
  get isInHeaders(): boolean {
    return this.#hasBegun && this.#interim === 0;
  }

  /** Describes, for the error of a timeout, how far the response on an open connection came. */
  waitingFor(): string {
    if (this.#interim > 0) return `connected, but only interim responses (${this.#interim})`;
    return this.#hasBegun
      ? "connected, but the response's headers did not end"
      : 'connected, but no response';
  }

  onRequestStart(controller: Dispatcher.DispatchController): void {
    // A second start means that undici writes the request again after the connection closed. The first request may have
    // arrived, so the second is aborted.
    if (this.#isWritten) controller.abort(WRITTEN_TWICE);
    this.#isWritten = true;
  }

  /** Called by undici at the first byte of a response, even of an interim one. */
  onResponseStarted(): void {
    this.#hasBegun = true;
  }

  onResponseStart(controller: Dispatcher.DispatchController, status: number, headers: Headers): void {
    // Rejected here, because undici would fail an assertion for these statuses, and formatting its message takes seconds in
    // a bundle.
    if (status < 100 || status === SWITCHING_PROTOCOLS) return controller.abort(unexpectedStatus(status));
    if (this.#pending === undefined) return;
    if (status < 200) this.#interim = status;
    else if (status === 407 && this.#isForwarded) {
      this.#owner.broken(proxyErrorOf(status, headers['proxy-authenticate']));
    } else this.#onStatus(this.#pending, status, headers);
  }

  onResponseData(_controller: unknown, chunk: Uint8Array): void {
    this.#bodyBytes += chunk.length;
    this.#body?.add(chunk);
    if (this.#body?.isFull) this.conclude(undefined, 'length');
    if (this.#bodyBytes > MAX_BODY_BYTES && this.#pending === undefined) this.#owner.broken();
  }

  onResponseEnd(): void {
    this.conclude();
    this.#owner.ended();
  }

  onResponseError(_controller: unknown, error: Error): void {
    this.#owner.broken(error);
  }

  #onStatus({ request }: PendingRequest, status: number, headers: Headers): void {
    request.onHead?.(status, headers);
    const retryAfter = headers['retry-after'];
    this.#head = {
      status,
      retryAfter: Array.isArray(retryAfter) ? retryAfter[0] : retryAfter,
      // Headers are skipped for most responses, because these are successes, which need no explanation.
      headers:
        status > 299 || request.responseBytes !== undefined
          ? evidenceHeaders(headers, this.#isForwarded)
          : undefined,
      at: elapsedMs(),
    };
    if (request.responseMs !== undefined) this.#owner.limitBody(request.responseMs);
    const { responseBytes } = request;
    if (status > 299 || responseBytes !== undefined) this.#body = new ResponseBody(responseBytes);
    else this.conclude();
  }
}

function unexpectedStatus(status: number): Error {
  return malformedResponse(
    status === SWITCHING_PROTOCOLS
      ? 'the response switches to another protocol, which the request did not ask for'
      : `the response has no HTTP status: ${String(status).padStart(3, '0')}`,
  );
}

/** Headers that show which system sent a response. Other headers are not stored: most are noise, and some are secret. */
export const EVIDENCE_HEADERS: readonly string[] = [
  'server',
  'location',
  'www-authenticate',
  'content-type',
  'via',
  'retry-after',
  'cf-mitigated',
  'cf-ray',
  'ngrok-error-code',
  'x-amzn-errortype',
  'x-amzn-requestid',
  'apigw-requestid',
  'x-azure-ref',
  'x-powered-by',
  'x-squid-error',
];

const MAX_VALUE_LENGTH = 500;

/** Returns the EVIDENCE_HEADERS of a response, of a repeated header only the first value. */
function evidenceHeaders(headers: Headers, isForwarded: boolean): Readonly<Record<string, string>> {
  const kept: Record<string, string> = isForwarded ? { ':forwarded': 'yes' } : {};
  for (const name of EVIDENCE_HEADERS) {
    const value = headers[name];
    const first = typeof value === 'string' ? value : value?.[0];
    if (first !== undefined) kept[name] = first.slice(0, MAX_VALUE_LENGTH);
  }
  return kept;
}

/** Bytes of a failed response to read: Django explains an error below 4,572 bytes of styles. */
const MAX_DETAIL_BYTES = 16 * 1024;

/** The first part of a response's body. Copies chunks, because each shares its memory with all that was read with it. */
class ResponseBody {
  readonly #maxBytes: number;
  readonly #chunks: Buffer[] = [];
  #bytes = 0;

  constructor(maxBytes = MAX_DETAIL_BYTES) {
    this.#maxBytes = maxBytes;
  }

  get isFull(): boolean {
    return this.#bytes >= this.#maxBytes;
  }

  add(chunk: Uint8Array): void {
    if (this.isFull) return;
    const kept = Buffer.from(chunk.subarray(0, this.#maxBytes - this.#bytes));
    this.#bytes += kept.length;
    this.#chunks.push(kept);
  }

  /** Returns the text of the body, without a last character that the size limit cut in two. */
  text(): string {
    return new TextDecoder().decode(Buffer.concat(this.#chunks), { stream: this.isFull });
  }
}
