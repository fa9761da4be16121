import type { IncomingMessage, ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { roundedMs, systemClock, type Clock } from '../clock.ts';
import { sendResponse, sendSlowResponse } from './send-response.ts';
import { relayedResponse, type Forward, type Forwarded } from './forwarding.ts';
import { HeldResponses } from './held-responses.ts';
import { SignatureJudge } from './signature-judge.ts';
import { OpenRequests, type OpenRequest } from './open-requests.ts';
import {
  checkReceiverOptions,
  RECEIVER_LIMITS,
  type ReceiverLimits,
  type ReceiverOptions,
} from './options.ts';
import { bufferBody } from './read-body.ts';
import type { Answered, SignatureJudgement } from './received-request.ts';
import { rawResponse, SENDER_LEFT, type ConnectionFault, type RequestFault } from './connection-fault.ts';
import { playScript, type ScriptedResponse, type TimedResponse } from './script.ts';
import { BoundedServer } from './server.ts';
import { startListening } from './start-listening.ts';

export interface Receiver {
  /** Where to post to, such as `http://127.0.0.1:8787`: an address that works on this machine, without a final slash. */
  readonly url: string;
  readonly port: number;
  /** Resolves when every socket and timer is gone. Requests whose answer is still held are reported first. */
  close(): Promise<void>;
}

/**
 * Starts an HTTP receiver that checks signatures, answers as its script says and reports each request. What is not a
 * POST is answered with 405 and reported; `GET /` and `HEAD /` say what this is and are not reported.
 * Throws ConfigError for an option that is misspelled, missing or of another kind, and when it cannot listen there.
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  checkReceiverOptions(options);
  const receiver = new HttpReceiver(options);
  await receiver.listen();
  return receiver;
}

/** A request on its way to its answer. */
interface Exchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly at: number;
  readonly body: Uint8Array;
  readonly judgement: SignatureJudgement;
  readonly open: OpenRequest;
  readonly forwarded?: Forwarded;
}

class HttpReceiver implements Receiver {
  readonly #options: ReceiverOptions;
  readonly #limits: ReceiverLimits;
  readonly #clock: Clock;
  readonly #bounded: BoundedServer;
  readonly #nextAnswer: () => ScriptedResponse;
  readonly #held = new HeldResponses();
  readonly #open: OpenRequests;
  readonly #judge: SignatureJudge;
  readonly #ended = new WeakSet<Socket>();
  #address = { url: '', port: 0 };
  #closed: Promise<void> | undefined;

  constructor(options: ReceiverOptions) {
    this.#options = options;
    this.#limits = { ...RECEIVER_LIMITS, ...options.limits };
    this.#clock = options.clock ?? systemClock;
    this.#nextAnswer = playScript(options.script ?? []);
    this.#open = new OpenRequests({ maxBytes: this.#limits.openBytes, onBusy: options.onBusy });
    this.#judge = new SignatureJudge(options.secrets, this.#clock);
    this.#bounded = this.#createServer();
  }

  get url(): string {
    return this.#address.url;
  }

  get port(): number {
    return this.#address.port;
  }

  async listen(): Promise<void> {
    const { host = '127.0.0.1', port = 0, certificate } = this.#options;
    const scheme = certificate === undefined ? 'http' : 'https';
    this.#address = await startListening(this.#bounded.server, { scheme, host, port });
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#bounded.server.close(() => resolve());
      this.#held.release();
      // What has been answered is in the system's hands by now; the other connections are idle or not worth waiting for.
      this.#bounded.closeConnections();
    });
    return this.#closed;
  }

  #createServer(): BoundedServer {
    const limits = this.#limits;
    return new BoundedServer({
      limits,
      certificate: this.#options.certificate,
      onRequest: (request, response) => this.#receive(request, response),
      onUnfit: (response, refusal) => this.#refuseRequest(response, refusal),
      onFault: (refusal, socket) => this.#refuseConnection(refusal, socket),
      onEnded: (socket, refusal) => this.#connectionEnded(socket, refusal),
      onDropped: () => this.#refused(undefined, `more than ${limits.connections} connections at once`),
    });
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const at = this.#clock.now();
    if (this.#options.serveOwn?.(request, response) === true) return;
    if (isVisit(request)) {
      request.resume();
      sendResponse(response, 200, 'hooks is listening; POST webhooks here\n');
      return;
    }
    const open = this.#open.begin();
    const take = (bytes: number): boolean => open.take(bytes);
    bufferBody(request, { maxBytes: this.#limits.bodyBytes, take }, (result) => {
      if (result.kind === 'body') {
        const { body } = result;
        const judgement = this.#judge.judge(request.rawHeaders, body);
        return this.#answer({ request, response, at, body, judgement, open });
      }
      if (result.kind === 'too-large') this.#refuseBody(response);
      else if (result.kind === 'no-room') this.#refuseForNow(response);
      else this.#connectionEnded(request.socket, SENDER_LEFT);
      open.end();
    });
  }

  #answer(exchange: Exchange): void {
    const { verdict } = exchange.judgement;
    if (exchange.request.method !== 'POST') {
      this.#say(exchange, 405, 'webhooks come as POST\n', ['allow', 'POST']);
    } else if (this.#options.requireSignature === true && verdict !== 'valid') {
      this.#say(
        exchange,
        401,
        `the X-Signature header ${verdict === 'unsigned' ? 'is missing' : 'does not match'}\n`,
      );
    } else if (this.#options.forward === undefined) {
      this.#play(exchange, this.#nextAnswer());
    } else {
      this.#forward(exchange, this.#options.forward);
    }
  }

  /** Passed on first, and answered with what came back or, where there is one, as the script says. */
  #forward(exchange: Exchange, forward: Forward): void {
    const { request, response, body } = exchange;
    const left = new AbortController();
    this.#held.hold(response, {
      until: (give) => {
        const passedOn = forward({ rawHeaders: request.rawHeaders, body }, left.signal);
        void passedOn.then((forwarded) => give(() => this.#answerForwarded({ ...exchange, forwarded })));
        return () => left.abort();
      },
      onLeft: () => this.#report(exchange, 'nothing'),
    });
  }

  #answerForwarded(exchange: Exchange & { readonly forwarded: Forwarded }): void {
    if (this.#options.script !== undefined) return this.#play(exchange, this.#nextAnswer());
    const { status, text, headers } = relayedResponse(exchange.forwarded);
    this.#say(exchange, status, text, headers);
  }

  #play(exchange: Exchange, answer: ScriptedResponse): void {
    const { response } = exchange;
    if (answer.kind === 'timeout') {
      this.#held.hold(response, { onLeft: () => this.#report(exchange, 'timeout') });
    } else if (answer.delayMs > 0) {
      this.#held.hold(response, {
        until: (give) => this.#clock.after(answer.delayMs, () => give(() => this.#give(exchange, answer))),
        onLeft: () => this.#report(exchange, 'nothing'),
      });
    } else {
      this.#give(exchange, answer);
    }
  }

  #give(exchange: Exchange, answer: TimedResponse): void {
    switch (answer.kind) {
      case 'status':
        this.#say(exchange, answer.status, '', answer.headers);
        break;
      case 'slow-body':
        this.#report(exchange, 'slow-body', answer.status);
        this.#whenDrained(exchange, () => this.#drip(exchange.response, answer));
        break;
      case 'reset':
        this.#report(exchange, 'reset');
        this.#whenDrained(exchange, () => this.#bounded.reset(exchange.request.socket));
        break;
      default:
        answer satisfies never;
    }
  }

  #drip(response: ServerResponse, answer: TimedResponse & { readonly kind: 'slow-body' }): void {
    const times = { clock: this.#clock, dripMs: this.#limits.dripMs };
    this.#held.hold(response, { until: () => sendSlowResponse(response, answer, times), onLeft: () => {} });
  }

  #say(exchange: Exchange, status: number, text: string, headers?: readonly string[]): void {
    this.#report(exchange, 'status', status);
    this.#whenDrained(exchange, () => sendResponse(exchange.response, status, text, headers));
  }

  #whenDrained({ response }: Exchange, answer: () => void): void {
    this.#held.holdUntil(response, this.#options.drained?.(), answer);
  }

  #report(exchange: Exchange, answered: Answered, status?: number): void {
    const { request, at, body, judgement, open, forwarded } = exchange;
    // A server's request has both; the type covers the client's side too.
    const { method = '', url: path = '', rawHeaders } = request;
    const ms = roundedMs(this.#clock.now() - at);
    const problem = method === 'POST' ? this.#options.check?.(body) : undefined;
    const facts = { at, method, path, rawHeaders, body, ...judgement, answered, status, ms };
    this.#options.onRequest({
      ...facts,
      ...(problem !== undefined && { problem }),
      ...(forwarded !== undefined && { forwarded }),
    });
    open.end();
  }

  #refuseBody(response: ServerResponse): void {
    const { bodyBytes } = this.#limits;
    this.#refused(413, `its body is over ${bodyBytes} bytes`);
    // The connection stays, so that a sender that is still writing gets to read this; requestMs ends its patience.
    sendResponse(response, 413, `at most ${bodyBytes} bytes\n`);
  }

  #refuseForNow(response: ServerResponse): void {
    const reason = `the bodies of all requests at once are over ${this.#limits.openBytes} bytes`;
    this.#refused(503, reason);
    sendResponse(response, 503, `${reason}\n`, ['retry-after', '1']);
  }

  #refuseRequest(response: ServerResponse, { status, reason }: RequestFault): void {
    response.req.resume();
    this.#refused(status, reason);
    sendResponse(response, status, `${reason}\n`);
  }

  #refuseConnection(refusal: ConnectionFault | undefined, socket: Socket): void {
    // Without a byte it is a scan of the port or a browser's spare connection, and nobody's request.
    if (refusal !== undefined && this.#bounded.wireOf(socket).bytesRead > 0) {
      this.#connectionEnded(socket, refusal);
    }
    if (refusal?.status !== undefined && socket.writable) {
      socket.write(rawResponse(refusal.status, refusal.reason));
    }
    socket.destroySoon();
  }

  /** Both the connection and the request that was being read on it notice its end; it is reported once. */
  #connectionEnded(socket: Socket, { status, reason }: ConnectionFault): void {
    const wire = this.#bounded.wireOf(socket);
    if (this.#ended.has(wire)) return;
    this.#ended.add(wire);
    this.#refused(status, reason);
  }

  #refused(status: number | undefined, reason: string): void {
    this.#options.onRefused?.({ at: this.#clock.now(), status, reason });
  }
}

/** Somebody looks with a browser, or a script waits for the port. */
function isVisit({ method, url = '' }: IncomingMessage): boolean {
  return (method === 'GET' || method === 'HEAD') && (url === '/' || url.startsWith('/?'));
}
