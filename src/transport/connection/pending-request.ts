import { elapsedMs, roundedMs } from '../../clock.ts';
import type { TransportError } from '../../errors.ts';
import type { Abortable, AbortWatch } from './abort-watch.ts';
import { onRoute } from '../network-error.ts';
import { redactUrl } from '../../redact.ts';
import { withoutSent } from '../sent-secrets.ts';
import type { NetworkFailure, TransportRequest, TransportResponse, TransportResult } from '../transport.ts';

/** The connection that carries a pending request, and is told when the request is aborted. */
export interface Carrier {
  abandon(failure: NetworkFailure): void;
}

/** The status and headers of a response. `at` is the time on the monotonic clock. */
export interface ResponseHead extends Pick<TransportResponse, 'status' | 'retryAfter' | 'headers'> {
  readonly at: number;
}

interface PendingRequestOptions {
  readonly request: TransportRequest;
  /** The path in the request line. */
  readonly path: string;
  /** The URL of the proxy, for the text of a failure. Undefined without a proxy. */
  readonly via: string | undefined;
  readonly watch: AbortWatch;
  readonly resolve: (result: TransportResult) => void;
  readonly reject: (error: TransportError) => void;
}

const ABORTED: NetworkFailure = { error: 'aborted', detail: 'the caller gave up' };
export const CLOSED: NetworkFailure = { error: 'aborted', detail: 'the transport was closed' };

/** A request that has no result yet, with its timeout and its promise. If its connection dies, it can move to another. */
export class PendingRequest implements Abortable {
  readonly request: TransportRequest;
  readonly path: string;
  /** The connection that carries the request. Another one replaces it if it was reused and dies before the response. */
  carrier: Carrier | undefined;
  reconnected = false;
  watchPlace = -1;
  readonly #startedAt = elapsedMs();
  readonly #options: PendingRequestOptions;

  constructor(options: PendingRequestOptions) {
    const { request, path, watch } = options;
    this.#options = options;
    this.request = request;
    this.path = path;
    if (request.signal) watch.add(request.signal, this);
  }

  /** Milliseconds left until the timeout of the request. */
  get leftMs(): number {
    return Math.max(0, this.#startedAt + this.request.timeoutMs - elapsedMs());
  }

  abort(): void {
    if (this.carrier) this.carrier.abandon(ABORTED);
    else this.fail(ABORTED);
  }

  respond(
    { status, retryAfter, headers, at }: ResponseHead,
    body: string,
    cutBy: TransportResponse['bodyCutBy'],
  ): void {
    const response: TransportResponse = {
      kind: 'response',
      status,
      retryAfter,
      headers: this.#shownHeaders(headers),
      body: body === '' ? undefined : this.#shown(body, status),
      ms: roundedMs(at - this.#startedAt),
      reconnected: this.reconnected,
    };
    const isCut = cutBy !== undefined && this.request.responseBytes !== undefined;
    this.#settle(isCut ? { ...response, bodyCutBy: cutBy } : response);
  }

  /**
   * Removes the secrets of the request from a response body. The body of a success stays unchanged, because callers parse
   * it.
   */
  #shown(body: string, status: number): string {
    return status > 299 ? withoutSent(body, this.request) : body;
  }

  /** Masks secrets in headers: a redirect may repeat the query of the request with its secrets. */
  #shownHeaders(headers: ResponseHead['headers']): ResponseHead['headers'] {
    if (headers === undefined) return undefined;
    const shown = Object.entries(headers).map(([name, value]) => {
      const text = withoutSent(value, this.request);
      return [name, name === 'location' ? redactUrl(text) : text];
    });
    return Object.fromEntries(shown) as typeof headers; // of the same entries
  }

  fail(failure: NetworkFailure): void {
    const { error, detail, cause } = onRoute(failure, this.#options.via, this.request.connection);
    this.#settle({
      kind: 'failure',
      error,
      detail,
      ...(cause !== undefined && { cause }),
      ms: roundedMs(elapsedMs() - this.#startedAt),
      reconnected: this.reconnected,
    });
  }

  /** Rejects the promise of `send`, for a request that cannot be written. */
  reject(error: TransportError): void {
    this.#unwatch();
    this.#options.reject(error);
  }

  #settle(result: TransportResult): void {
    this.#unwatch();
    this.#options.resolve(result);
  }

  #unwatch(): void {
    const { signal } = this.request;
    if (signal) this.#options.watch.delete(signal, this);
  }
}
