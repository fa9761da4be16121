import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { Socket } from 'node:net';
import { systemClock, type Clock } from '../clock.ts';
import { ConfigError } from '../errors.ts';
import { send, sendSlowly } from './answer.ts';
import { HeldAnswers } from './held-answers.ts';
import { judge } from './judge.ts';
import { RECEIVER_LIMITS, type ReceiverLimits, type ReceiverOptions } from './options.ts';
import { readBody } from './read-body.ts';
import type { Answered, Judgement } from './received-request.ts';
import { rawAnswer, refusalOf, SENDER_LEFT, type ConnectionRefusal } from './refusal.ts';
import { playScript, type Answer, type GivenAnswer } from './script.ts';
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
 * Throws ConfigError when it cannot listen there.
 */
export async function startReceiver(options: ReceiverOptions): Promise<Receiver> {
  if (options.requireSignature === true && options.secrets.length === 0) {
    throw new ConfigError('A signature is required, but there is no secret to check it with', {
      key: 'requireSignature',
      hint: 'give the secret that the sender signs with',
    });
  }
  if (options.secrets.includes('')) {
    throw new ConfigError('A secret is empty', {
      key: 'secrets',
      hint: 'leave it out to check no signatures',
    });
  }
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
  readonly judgement: Judgement;
}

class HttpReceiver implements Receiver {
  readonly #options: ReceiverOptions;
  readonly #limits: ReceiverLimits;
  readonly #clock: Clock;
  readonly #server: Server;
  readonly #nextAnswer: () => Answer;
  readonly #held: HeldAnswers;
  readonly #ended = new WeakSet<Socket>();
  #address = { url: '', port: 0 };
  #closed: Promise<void> | undefined;

  constructor(options: ReceiverOptions) {
    this.#options = options;
    this.#limits = { ...RECEIVER_LIMITS, ...options.limits };
    this.#clock = options.clock ?? systemClock;
    this.#nextAnswer = playScript(options.script ?? []);
    this.#held = new HeldAnswers(this.#clock);
    this.#server = this.#createServer();
  }

  get url(): string {
    return this.#address.url;
  }

  get port(): number {
    return this.#address.port;
  }

  async listen(): Promise<void> {
    const { host = '127.0.0.1', port = 0 } = this.#options;
    this.#address = await startListening(this.#server, host, port);
  }

  close(): Promise<void> {
    this.#closed ??= new Promise((resolve) => {
      this.#server.close(() => resolve());
      this.#held.release();
      // What has been answered is in the system's hands by now; the other connections are idle or not worth waiting for.
      this.#server.closeAllConnections();
    });
    return this.#closed;
  }

  #createServer(): Server {
    const { headersMs, requestMs, connections } = this.#limits;
    const timeouts = {
      headersTimeout: Math.min(headersMs, requestMs),
      requestTimeout: requestMs,
      // Node looks for slow senders only this often; its own 30 s would let them stay that much longer.
      connectionsCheckingInterval: Math.min(headersMs, requestMs, 1_000),
      // Long, so that a sender's pooled connection hardly ever meets a socket that is just being closed.
      keepAliveTimeout: 60_000,
    };
    const server = createServer(timeouts, (request, response) => this.#receive(request, response));
    server.maxConnections = connections;
    // A server without TLS hands over its plain sockets; the type covers any stream.
    server.on('clientError', (error, socket) => this.#refuseConnection(error, socket as Socket));
    server.on('drop', () => this.#refused(undefined, `more than ${connections} connections at once`));
    return server;
  }

  #receive(request: IncomingMessage, response: ServerResponse): void {
    const at = this.#clock.now();
    if (isVisit(request)) {
      request.resume();
      send(response, 200, 'hooks is listening; POST webhooks here\n');
      return;
    }
    readBody(request, this.#limits.bodyBytes, (result) => {
      if (result.kind === 'too-large') this.#refuseBody(response);
      else if (result.kind === 'incomplete') this.#connectionEnded(request.socket, SENDER_LEFT);
      else {
        const { body } = result;
        this.#answer({ request, response, at, body, judgement: this.#judge(request, body) });
      }
    });
  }

  #judge({ rawHeaders }: IncomingMessage, body: Uint8Array): Judgement {
    return judge(rawHeaders, body, this.#options.secrets);
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
    } else {
      this.#play(exchange, this.#nextAnswer());
    }
  }

  #play(exchange: Exchange, answer: Answer): void {
    const { response } = exchange;
    if (answer.kind === 'timeout') {
      this.#held.hold(response, { onLeft: () => this.#report(exchange, 'timeout') });
    } else if (answer.delayMs > 0) {
      this.#held.hold(response, {
        due: { afterMs: answer.delayMs, give: () => this.#give(exchange, answer) },
        onLeft: () => this.#report(exchange, 'nothing'),
      });
    } else {
      this.#give(exchange, answer);
    }
  }

  #give(exchange: Exchange, answer: GivenAnswer): void {
    switch (answer.kind) {
      case 'status':
        this.#say(exchange, answer.status, '', answer.headers);
        break;
      case 'slow-body':
        this.#report(exchange, 'slow-body', answer.status);
        sendSlowly(exchange.response, answer, { clock: this.#clock, dripMs: this.#limits.dripMs });
        break;
      case 'reset':
        this.#report(exchange, 'reset');
        exchange.request.socket.resetAndDestroy();
        break;
      default:
        answer satisfies never;
    }
  }

  #say(exchange: Exchange, status: number, text: string, headers?: readonly string[]): void {
    this.#report(exchange, 'status', status);
    send(exchange.response, status, text, headers);
  }

  #report({ request, at, body, judgement }: Exchange, answered: Answered, status?: number): void {
    // A server's request has both; the type covers the client's side too.
    const { method = '', url: path = '', rawHeaders } = request;
    const ms = this.#clock.now() - at;
    const problem = method === 'POST' ? this.#options.check?.(body) : undefined;
    const facts = { at, method, path, rawHeaders, body, ...judgement, answered, status, ms };
    this.#options.onRequest(problem === undefined ? facts : { ...facts, problem });
  }

  #refuseBody(response: ServerResponse): void {
    const { bodyBytes } = this.#limits;
    this.#refused(413, `its body is over ${bodyBytes} bytes`);
    // The connection stays, so that a sender that is still writing gets to read this; requestMs ends its patience.
    send(response, 413, `at most ${bodyBytes} bytes\n`);
  }

  #refuseConnection(error: NodeJS.ErrnoException, socket: Socket): void {
    const refusal = refusalOf(error);
    // Without a byte it is a scan of the port or a browser's spare connection, and nobody's request.
    if (refusal !== undefined && socket.bytesRead > 0) this.#connectionEnded(socket, refusal);
    if (refusal?.status !== undefined && socket.writable) {
      socket.write(rawAnswer(refusal.status, refusal.reason));
    }
    socket.destroySoon();
  }

  /** Both the connection and the request that was being read on it notice its end; it is reported once. */
  #connectionEnded(socket: Socket, { status, reason }: ConnectionRefusal): void {
    if (this.#ended.has(socket)) return;
    this.#ended.add(socket);
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
