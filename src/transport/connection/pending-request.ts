import { elapsedMs, roundedMs } from '../../clock.ts';
import type { TransportError } from '../../errors.ts';
import type { Abortable, AbortWatch } from './abort-watch.ts';
import type { NetworkFailure } from '../network-error.ts';
import { redactUrl } from '../../redact.ts';
import { withoutSent } from '../sent-secrets.ts';
import type { TransportRequest, TransportResponse, TransportResult } from '../transport.ts';

/** The connection that carries a pending request, and learns when it is over. */
export interface Carrier {
  abandon(failure: NetworkFailure): void;
}

/** What is known of a response once its headers are in. `at` is by the monotonic clock. */
export interface ResponseHead {
  readonly status: number;
  readonly retryAfter: string | undefined;
  readonly headers: Readonly<Record<string, string>> | undefined;
  readonly at: number;
}

interface PendingRequestOptions {
  readonly request: TransportRequest;
  /** What stands in the request line. */
  readonly path: string;
  /** The proxy that it goes through, for the words of a failure. */
  readonly via: string | undefined;
  readonly watch: AbortWatch;
  readonly resolve: (result: TransportResult) => void;
  readonly reject: (error: TransportError) => void;
}

const ABORTED: NetworkFailure = { error: 'aborted', detail: 'the caller gave up' };
export const CLOSED: NetworkFailure = { error: 'aborted', detail: 'the transport was closed' };

/** A request that has no response yet, with its deadline and its caller. It outlives a connection that dies under it. */
export class PendingRequest implements Abortable {
  readonly request: TransportRequest;
  readonly path: string;
  /** Set when it starts on a connection; another one takes it over when that died idle. */
  carrier: Carrier | undefined;
  reconnected = false;
  watchPlace = -1;
  readonly #startedAt = elapsedMs();
  readonly #via: string | undefined;
  readonly #watch: AbortWatch;
  readonly #resolve: (result: TransportResult) => void;
  readonly #reject: (error: TransportError) => void;

  constructor({ request, path, via, watch, resolve, reject }: PendingRequestOptions) {
    this.request = request;
    this.path = path;
    this.#via = via;
    this.#watch = watch;
    this.#resolve = resolve;
    this.#reject = reject;
    if (request.signal) watch.add(request.signal, this);
  }

  /** The time left until the one deadline, whatever has happened since. */
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
    this.#settle({
      kind: 'response',
      status,
      retryAfter,
      headers: this.#shownHeaders(headers),
      body: body === '' ? undefined : this.#shown(body, status),
      ...(cutBy !== undefined && this.request.responseBytes !== undefined && { bodyCutBy: cutBy }),
      ms: roundedMs(at - this.#startedAt),
      reconnected: this.reconnected,
    });
  }

  /** A success is for parsing, and stays as it is. */
  #shown(body: string, status: number): string {
    return status > 299 ? withoutSent(body, this.request) : body;
  }

  /** A redirect may repeat the query with its secrets. */
  #shownHeaders(headers: ResponseHead['headers']): ResponseHead['headers'] {
    const { location } = headers ?? {};
    if (location === undefined) return headers;
    return { ...headers, location: redactUrl(withoutSent(location, this.request)) };
  }

  fail({ error, detail, cause = this.#causeOnTheWay(error) }: NetworkFailure): void {
    this.#settle({
      kind: 'failure',
      error,
      detail: this.#via === undefined ? detail : `${detail}, through the proxy ${this.#via}`,
      ...(cause !== undefined && { cause }),
      ms: roundedMs(elapsedMs() - this.#startedAt),
      reconnected: this.reconnected,
    });
  }

  /** Where there is a proxy, it is what could not be connected to, or was not found. */
  #causeOnTheWay(error: NetworkFailure['error']): string | undefined {
    const isWay = this.#via !== undefined && (error === 'refused' || error === 'dns');
    return isWay ? 'proxy-unreachable' : undefined;
  }

  /** Rejects a request that cannot be written. */
  reject(error: TransportError): void {
    this.#unwatch();
    this.#reject(error);
  }

  #settle(result: TransportResult): void {
    this.#unwatch();
    this.#resolve(result);
  }

  #unwatch(): void {
    const { signal } = this.request;
    if (signal) this.#watch.delete(signal, this);
  }
}
