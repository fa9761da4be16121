import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { Clock } from '../../clock.ts';
import { slowSenderTimeouts } from '../../service/start-listening.ts';
import type { ReceiverLimits, ServerCertificate } from '../options.ts';
import {
  CONNECT,
  LEFT_AFTER_HANDSHAKE,
  NO_HOST,
  OTHER_EXPECTATION,
  connectionProblemOf,
  type ConnectionProblem,
  type RequestProblem,
} from './connection-problem.ts';

interface BoundedServerOptions {
  readonly limits: ReceiverLimits;
  readonly clock: Clock;
  readonly certificate: ServerCertificate | undefined;
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => void;
  /** Called for a request whose headers are rejected, before its body has arrived. */
  readonly onRequestProblem: (response: ServerResponse, problem: RequestProblem) => void;
  /**
   * Called for input that ends its connection without a request. The problem is undefined if the connection merely ended.
   */
  readonly onConnectionProblem: (problem: ConnectionProblem | undefined, socket: Socket) => void;
  /** Called for a connection that ended before a request came over it. */
  readonly onEnded: (socket: Socket, problem: ConnectionProblem) => void;
  /** Called for each connection that is closed at once, because the maximum number of connections is open. */
  readonly onDropped: () => void;
}

/** An HTTP server that limits senders and can speak TLS. */
export class BoundedServer {
  readonly server: Server;
  /** The open TCP connections, which are under the sockets of TLS, by the sender's address and port. */
  readonly #wires = new Map<string, Socket>();
  #lastClosedAt: number;

  constructor(options: BoundedServerOptions) {
    const { limits, clock, certificate, onRequest, onRequestProblem, onConnectionProblem } = options;
    this.#lastClosedAt = clock.now();
    const settings = {
      ...slowSenderTimeouts(limits),
      // Long, so that a sender's pooled connection rarely uses a socket that is being closed.
      keepAliveTimeout: 60_000,
      // Node would reject requests without a Host header itself, without a listener that could report them.
      requireHostHeader: false,
    };
    const handle: typeof onRequest = (request, response) =>
      lacksHost(request) ? onRequestProblem(response, NO_HOST) : onRequest(request, response);
    this.server =
      certificate === undefined
        ? createServer(settings, handle)
        : createTlsServer({ ...settings, ...certificate, handshakeTimeout: limits.headersMs }, handle);
    this.server.maxConnections = limits.connections;
    this.server.on('checkExpectation', (_, response) => onRequestProblem(response, OTHER_EXPECTATION));
    // The cast below is safe, because HTTP and HTTPS servers pass sockets; the type covers any stream.
    this.server.on(
      'clientError',
      (error, socket) => onConnectionProblem(connectionProblemOf(error), socket as Socket), // a socket, see above
    );
    this.server.on('connect', (_, socket) => {
      // Node has removed its own listeners from the socket. Without this listener, an error of the socket would end the
      // process.
      socket.on('error', () => {});
      onConnectionProblem(CONNECT, socket as Socket); // a socket, see above
    });
    this.server.on('drop', options.onDropped);
    this.#watchConnections(options);
  }

  /** The time, in ms, since which no connection has been open. Undefined while one is open. */
  get idleSince(): number | undefined {
    return this.#wires.size > 0 ? undefined : this.#lastClosedAt;
  }

  /** The TCP connection of a socket, which may be a TLS socket. */
  wireOf(socket: Socket): Socket {
    return this.#wires.get(senderOf(socket)) ?? socket;
  }

  /** Ends a connection with a TCP reset, without sending a byte. */
  reset(socket: Socket): void {
    this.wireOf(socket).resetAndDestroy();
    socket.destroy();
  }

  /** Closes all connections, including those in their TLS handshake, which Node's own method misses. */
  closeConnections(): void {
    this.server.closeAllConnections();
    for (const wire of this.#wires.values()) wire.destroy();
  }

  #watchConnections({ certificate, clock, onEnded }: BoundedServerOptions): void {
    const withRequest = new WeakSet<Socket>();
    if (certificate !== undefined) {
      const remember = ({ socket }: IncomingMessage): unknown => withRequest.add(this.wireOf(socket));
      this.server.on('request', remember).on('checkExpectation', remember);
    }
    this.server.on('connection', (wire: Socket) => {
      const sender = senderOf(wire);
      this.#wires.set(sender, wire);
      wire.once('close', () => {
        this.#wires.delete(sender);
        this.#lastClosedAt = clock.now();
        const isUnused = certificate !== undefined && !withRequest.has(wire) && wire.bytesRead > 0;
        if (isUnused) onEnded(wire, LEFT_AFTER_HANDSHAKE);
      });
    });
  }
}

/** Whether a request lacks the Host header, which RFC 9112, 3.2 requires for HTTP/1.1. */
function lacksHost({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === '1.1' && headers.host === undefined;
}

function senderOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
