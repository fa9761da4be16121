import type { Socket } from 'node:net';
import { Readable } from 'node:stream';
import { setTimeout as pause } from 'node:timers/promises';
import type { Client, Dispatcher } from 'undici';
import { TransportError } from '../../errors.ts';
import { printable, redactUrl } from '../../redact.ts';
import type { Carrier, PendingRequest } from './pending-request.ts';
import type { Dialled } from '../route/dial.ts';
import { Exchange, type ExchangeOwner } from './exchange.ts';
import { isBrokenOff, isUnsendable, networkFailure } from '../network-error.ts';
import { ResponseGuard } from './response-guard.ts';
import type { Route } from '../route/route.ts';
import type { NetworkFailure } from '../transport.ts';

/** The pool that a connection belongs to, as the connection sees it. */
export interface ConnectionOwner {
  /** Called when the connection is ready for another attempt. */
  released(connection: HttpConnection): void;
  /** Called when the connection cannot carry another attempt. */
  dropped(connection: HttpConnection): void;
  /** Called when the socket is closed. */
  closed(connection: HttpConnection): void;
  /** Called when a reused connection died before the first byte of the response. */
  repeat(pending: PendingRequest): void;
}

export interface HttpConnectionOptions {
  readonly UndiciClient: typeof Client;
  readonly route: Route;
  /** Milliseconds to keep an idle connection, if the server does not say how long it keeps it. */
  readonly maxIdleMs: number;
  readonly owner: ConnectionOwner;
}

const MAX_HEADER_BYTES = 16 * 1024;
/** Maximum number of milliseconds to keep an idle connection, even if the server promises to keep it longer. */
const MAX_HINTED_IDLE_MS = 60_000;
const ENOUGH: NetworkFailure = { error: 'aborted', detail: 'enough of the response was read' };

/** A connection that carries one attempt after another: a Client of undici, with an exchange and options that are reused. */
export class HttpConnection implements Carrier, ExchangeOwner {
  readonly #client: Client;
  readonly #owner: ConnectionOwner;
  readonly #route: Route;
  readonly #exchange: Exchange;
  readonly #guard: ResponseGuard;
  readonly #request: Dispatcher.DispatchOptions = { method: 'POST', path: '/', headers: null, body: null };
  readonly #expire = (): void => this.abandon(this.#timeoutFailure());
  #deadline: NodeJS.Timeout | undefined;
  /** The open or opening socket. undici can replace it with a new one as long as the request is not written. */
  #socket: Socket | undefined;
  #isConnected = false;
  /** Number of responses received over this socket. If above 0, the socket is reused. */
  #served = 0;
  /** Whether an attempt has started whose response body has not ended. */
  #isBusy = false;
  #isDropped = false;

  constructor({ UndiciClient, route, maxIdleMs, owner }: HttpConnectionOptions) {
    this.#owner = owner;
    this.#route = route;
    const exchange = new Exchange(this, route.kind === 'forwarded');
    this.#exchange = exchange;
    this.#guard = new ResponseGuard(() => exchange.bodyBytes);
    this.#client = new UndiciClient(route.origin, {
      pipelining: 1,
      allowH2: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      keepAliveTimeout: maxIdleMs,
      keepAliveMaxTimeout: MAX_HINTED_IDLE_MS,
      // Off, because undici's timers are imprecise, and interim responses and slow bodies reset them: `#deadline` replaces
      // them.
      headersTimeout: 0,
      bodyTimeout: 0,
      connect: (_options, dialled) => this.#dial(dialled),
    });
  }

  /** Whether the connection only receives the rest of a response body, for which no attempt waits. */
  get isDraining(): boolean {
    return this.#isBusy && this.#exchange.pending === undefined;
  }

  start(pending: PendingRequest): void {
    pending.carrier = this;
    this.#isBusy = true;
    this.#exchange.begin(pending);
    this.#guard.begin(pending.request.cutsResponse);
    this.#deadline = setTimeout(this.#expire, pending.leftMs);
    this.#request.path = pending.path;
    this.#request.headers = headersOf(pending, this.#route);
    this.#request.body = bodyOf(pending);
    this.#client.dispatch(this.#request, this.#exchange);
  }

  /** Ends the connection. Its attempt fails, if it has no result yet. */
  abandon(failure: NetworkFailure): void {
    this.#exchange.conclude(failure);
    this.drop();
  }

  drop(): void {
    if (this.#isDropped) return;
    this.#isDropped = true;
    this.#isBusy = false;
    clearTimeout(this.#deadline);
    this.#owner.dropped(this);
    this.#client.destroy(null, () => {});
    if (this.#socket) this.#socket.destroy();
    else this.#owner.closed(this);
  }

  ended(): void {
    if (this.#isDropped) return;
    clearTimeout(this.#deadline);
    this.#isBusy = false;
    this.#served++;
    this.#owner.released(this);
  }

  limitBody(ms: number): void {
    clearTimeout(this.#deadline);
    this.#deadline = setTimeout(this.#expire, Math.min(ms, this.#exchange.pending?.leftMs ?? 0));
  }

  broken(error?: Error): void {
    if (this.#isDropped) return;
    const { pending } = this.#exchange;
    if (pending && error && this.#mayRepeat(pending, error)) return this.#repeat(pending);
    if (pending && error && isUnsendable(error)) pending.reject(unsendable(pending, error));
    this.abandon(error ? networkFailure(error) : ENOUGH);
  }

  #dial(dialled: Dialled): void {
    this.#served = 0;
    this.#isConnected = false;
    const socket = this.#route.dial((...outcome) => {
      this.#isConnected = outcome[0] === null;
      if (outcome[0] === null) {
        this.#guard.watch(outcome[1]);
        this.#hold(outcome[1]);
      }
      dialled(...outcome);
    });
    this.#socket = socket;
    socket.once('close', () => this.#onClose(socket));
  }

  #hold(socket: Socket): void {
    const { hold } = this.#exchange.pending?.request ?? {};
    if (hold === undefined) return;
    socket.cork();
    hold(() => socket.uncork());
  }

  /** Handles the close of the current socket. Ignores an old socket that undici replaced before it wrote the request. */
  #onClose(socket: Socket): void {
    if (socket !== this.#socket) return;
    this.#socket = undefined;
    if (this.#isDropped) this.#owner.closed(this);
    else if (!this.#isBusy) this.drop();
  }

  #mayRepeat({ reconnected }: PendingRequest, error: Error): boolean {
    return this.#served > 0 && !reconnected && this.#exchange.isWithoutResponse && isBrokenOff(error);
  }

  #repeat(pending: PendingRequest): void {
    this.#exchange.handOver();
    this.drop();
    this.#owner.repeat(pending);
  }

  #timeoutFailure(): NetworkFailure {
    const what = this.#isConnected ? this.#exchange.waitingFor() : this.#waitingToConnect();
    const detail = `${what} within ${this.#exchange.pending?.request.timeoutMs} ms`;
    const cause = this.#timeoutCause();
    return { error: 'timeout', detail, ...(cause !== undefined && { cause }) };
  }

  #timeoutCause(): string | undefined {
    if (this.#isConnected) return this.#exchange.isInHeaders ? 'headers-unfinished' : undefined;
    if (this.#socket === undefined) return undefined;
    if (this.#socket.connecting) return 'no-connection-in-time';
    return this.#route.kind === 'tunnel' ? 'proxy-silent' : 'tls-unfinished';
  }

  #waitingToConnect(): string {
    if (this.#socket === undefined || this.#socket.connecting) return 'no connection';
    return this.#route.kind === 'tunnel' ? 'no tunnel' : 'no TLS handshake';
  }
}

/**
 * Returns the headers of a request with those of its route. Asks the server for an unencoded body, because this client
 * decodes none, unless the caller accepts an encoding.
 */
function headersOf({ request: { headers, body, cutsAt } }: PendingRequest, route: Route): string[] {
  const all = headers.slice();
  all.push(...route.headers);
  if (!hasName(headers, 'accept-encoding')) all.push('accept-encoding', 'identity');
  if (cutsAt !== undefined) all.push('content-length', String(body.length));
  return all;
}

/** The body of a request; as a stream, if its parts are written one after the other. */
function bodyOf({ request: { body, cutsAt } }: PendingRequest): Uint8Array | Readable {
  return cutsAt === undefined ? body : Readable.from(partsOf(body, cutsAt), { objectMode: false });
}

/** Time for a receiver to read one part before the next one arrives. */
const PAUSE_MS = 30;

async function* partsOf(body: Uint8Array, cutsAt: readonly number[]): AsyncGenerator<Uint8Array> {
  let start = 0;
  for (const end of [...cutsAt, body.length]) {
    if (start > 0) await pause(PAUSE_MS);
    yield body.subarray(start, end);
    start = end;
  }
}

function hasName(headers: readonly string[], name: string): boolean {
  for (let at = 0; at < headers.length; at += 2) {
    const other = headers[at];
    if (other?.length === name.length && other.toLowerCase() === name) return true;
  }
  return false;
}

function unsendable({ request }: PendingRequest, error: Error): TransportError {
  const url = redactUrl(request.url);
  return new TransportError(`Cannot make a request to ${url}: ${printable(error.message)}`, {
    kind: 'request',
    url,
    hint: 'check the headers and the URL',
    cause: error,
  });
}
