import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { systemClock, type Clock } from '../clock.ts';
import {
  rawResponse,
  SENDER_LEFT,
  type ConnectionProblem,
  type RequestProblem,
} from './connection/connection-problem.ts';
import { RequestsInFlight } from './connection/requests-in-flight.ts';
import {
  validateReceiverOptions,
  RECEIVER_LIMITS,
  type ReceiverLimits,
  type ReceiverOptions,
} from './options.ts';
import { respondToBrowser } from './messages/browser-library.ts';
import { trackingCallOf } from './messages/tracking-call.ts';
import { Responder } from './response/responder.ts';
import type { Script } from './response/script.ts';
import { sendResponse } from './response/send-response.ts';
import { BoundedServer } from './connection/server.ts';
import type { ExplainMismatch } from '../signature/evidence.ts';
import type { SignatureJudgement } from './received-request.ts';
import { SignatureJudge, UNCHECKED, type MismatchedRequest } from './signature-judge.ts';
import { bufferBody } from '../service/request/buffer-body.ts';
import { startListening } from '../service/start-listening.ts';

/** An HTTP receiver; `startReceiver` documents it. */
export class Receiver {
  readonly #options: ReceiverOptions;
  readonly #limits: ReceiverLimits;
  readonly #clock: Clock;
  readonly #bounded: BoundedServer;
  readonly #responder: Responder;
  readonly #open: RequestsInFlight;
  readonly #judge: SignatureJudge;
  readonly #ended = new WeakSet<Socket>();
  #address = { url: '', port: 0 };
  #closed: Promise<void> | undefined;

  /** Validates the options and listens. `explain` finds the cause of a signature mismatch. Throws ConfigError. */
  static async start(options: ReceiverOptions, explain: ExplainMismatch): Promise<Receiver> {
    validateReceiverOptions(options);
    const receiver = new Receiver(options, explain);
    await receiver.#listen();
    return receiver;
  }

  private constructor(options: ReceiverOptions, explain: ExplainMismatch) {
    this.#options = options;
    this.#limits = { ...RECEIVER_LIMITS, ...options.limits };
    this.#clock = options.clock ?? systemClock;
    this.#open = new RequestsInFlight({ maxBytes: this.#limits.openBytes, onBusy: options.onBusy });
    this.#judge = new SignatureJudge(options, { clock: this.#clock, explain });
    this.#bounded = this.#createServer();
    this.#responder = new Responder({
      options,
      limits: this.#limits,
      clock: this.#clock,
      reset: ({ socket }) => this.#bounded.reset(socket),
    });
  }

  /** The URL to post to, such as `http://127.0.0.1:8787`: reachable from this machine, without a final slash. */
  get url(): string {
    return this.#address.url;
  }

  get port(): number {
    return this.#address.port;
  }

  /** The time, in ms, since which no connection has been open. Undefined while one is open. */
  get idleSince(): number | undefined {
    return this.#bounded.idleSince;
  }

  async #listen(): Promise<void> {
    const { host = '127.0.0.1', port = 0, certificate } = this.#options;
    const scheme = certificate === undefined ? 'http' : 'https';
    const address = await startListening(this.#bounded.server, { host, port });
    this.#address = { url: `${scheme}://${address.host}:${address.port}`, port: address.port };
  }

  /** Replaces the script from the next request on. Undefined to respond without a script. */
  respondBy(script: Script | undefined): void {
    this.#responder.respondBy(script);
  }

  /** Searches for the cause of a mismatch for at most `budgetMs` of processor time; serves no request meanwhile. */
  searchLonger(request: MismatchedRequest, budgetMs: number): SignatureJudgement['diagnosis'] {
    return this.#judge.searchLonger(request, budgetMs);
  }

  /** Reports requests with held responses, then closes. Resolves when every socket and timer is closed. */
  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#bounded.server.close(() => resolve());
      this.#responder.close();
      // Closing a connection loses no response that is already sent, because the system still delivers its buffers. The
      // other connections are idle, or their requests are not worth waiting for.
      this.#bounded.closeConnections();
    });
    return this.#closed;
  }

  #createServer(): BoundedServer {
    const limits = this.#limits;
    return new BoundedServer({
      limits,
      clock: this.#clock,
      certificate: this.#options.certificate,
      onRequest: (request, response) => this.#receive(request, response),
      onRequestProblem: (response, problem) => this.#rejectRequest(response, problem),
      onConnectionProblem: (problem, socket) => this.#rejectConnection(problem, socket),
      onEnded: (socket, problem) => this.#connectionEnded(socket, problem),
      onDropped: () =>
        this.#reportRejection(undefined, `more than ${limits.connections} connections at once`),
    });
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const at = this.#clock.now();
    if (this.#options.serveOwn?.(request, response) === true) return;
    const browserRequest = respondToBrowser(request, response);
    if (browserRequest === 'preflight') this.#options.onPreflight?.();
    if (browserRequest !== undefined) return;
    if (isVisit(request)) {
      request.resume();
      sendResponse(response, 200, 'hooks is listening; POST webhooks here\n');
      return;
    }
    const open = this.#open.begin();
    bufferBody(request, { maxBytes: this.#limits.bodyBytes, take: open.take }, (result) => {
      if (result.kind === 'body') {
        const { body } = result;
        const { method = '', url: path = '', rawHeaders } = request;
        const call = trackingCallOf({ method, path, rawHeaders, body, at });
        const judged = this.#judge.judge(rawHeaders, body, { method, path });
        const judgement = call !== undefined && judged.verdict === 'unsigned' ? UNCHECKED : judged;
        return this.#responder.respond({ request, response, at, body, judgement, open, call });
      }
      if (result.kind === 'too-large') this.#rejectLargeBody(response);
      else if (result.kind === 'no-room') this.#rejectForNow(response);
      else this.#connectionEnded(request.socket, SENDER_LEFT);
      open.end();
    });
  }

  #rejectLargeBody(response: ServerResponse): void {
    const { bodyBytes } = this.#limits;
    this.#reportRejection(413, `its body is over ${bodyBytes} bytes`);
    // The connection stays open so that a sender that is still writing can read the response. `requestMs` limits how long.
    sendResponse(response, 413, `at most ${bodyBytes} bytes\n`);
  }

  #rejectForNow(response: ServerResponse): void {
    const reason = `the bodies of all requests at once are over ${this.#limits.openBytes} bytes`;
    this.#reportRejection(503, reason);
    sendResponse(response, 503, `${reason}\n`, ['retry-after', '1']);
  }

  #rejectRequest(response: ServerResponse, { status, reason }: RequestProblem): void {
    response.req.resume();
    this.#reportRejection(status, reason);
    sendResponse(response, status, `${reason}\n`);
  }

  #rejectConnection(problem: ConnectionProblem | undefined, socket: Socket): void {
    // A connection without a byte is a port scan or a browser's preconnection, not a request.
    if (problem !== undefined && this.#bounded.wireOf(socket).bytesRead > 0) {
      this.#connectionEnded(socket, problem);
    }
    if (problem?.status !== undefined && socket.writable) {
      socket.write(rawResponse(problem.status, problem.reason));
    }
    socket.destroySoon();
  }

  /** Reports the end of a connection once, although both the connection and the reader of its request can detect it. */
  #connectionEnded(socket: Socket, { status, reason }: ConnectionProblem): void {
    const wire = this.#bounded.wireOf(socket);
    if (this.#ended.has(wire)) return;
    this.#ended.add(wire);
    this.#reportRejection(status, reason);
  }

  #reportRejection(status: number | undefined, reason: string): void {
    this.#options.onRefused?.({ at: this.#clock.now(), status, reason });
  }
}

/**
 * Whether a request is no webhook, but comes from a person who opens the URL in a browser, a script that waits for the
 * port, or a program that asks what listens there (`OPTIONS *`).
 */
function isVisit({ method, url = '' }: IncomingMessage): boolean {
  const isPage = url === '/' || url.startsWith('/?');
  return method === 'OPTIONS' ? url === '*' : isPage && (method === 'GET' || method === 'HEAD');
}
