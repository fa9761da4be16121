import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
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
  readonly certificate: ServerCertificate | undefined;
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => void;
  /** Called for a request whose headers are wrong, before its body has arrived. */
  readonly onRequestProblem: (response: ServerResponse, problem: RequestProblem) => void;
  /** Called for input that ends its connection without a request; the problem is undefined when the connection merely ended. */
  readonly onConnectionProblem: (problem: ConnectionProblem | undefined, socket: Socket) => void;
  /** Called for a connection that ended before a request came over it. */
  readonly onEnded: (socket: Socket, problem: ConnectionProblem) => void;
  /** Called for each connection beyond the limit. */
  readonly onDropped: () => void;
}

/** A server that enforces the limits on its senders, with TLS if there is a certificate. */
export class BoundedServer {
  readonly server: Server;
  /** The TCP connections below those that speak TLS, by the sender's address and port. */
  readonly #wires = new Map<string, Socket>();

  constructor({
    limits,
    certificate,
    onRequest,
    onRequestProblem,
    onConnectionProblem,
    onEnded,
    onDropped,
  }: BoundedServerOptions) {
    // Node itself would reject a request without Host, and report it to no listener.
    const settings = { ...timeoutsOf(limits), requireHostHeader: false };
    const handle: typeof onRequest = (request, response) =>
      lacksHost(request) ? onRequestProblem(response, NO_HOST) : onRequest(request, response);
    this.server =
      certificate === undefined
        ? createServer(settings, handle)
        : createTlsServer({ ...settings, ...certificate, handshakeTimeout: limits.headersMs }, handle);
    this.server.maxConnections = limits.connections;
    this.server.on('checkExpectation', (_, response) => onRequestProblem(response, OTHER_EXPECTATION));
    // Both kinds of server pass sockets; the type covers any stream.
    this.server.on(
      'clientError',
      (error, socket) => onConnectionProblem(connectionProblemOf(error), socket as Socket), // a socket, as the line above says
    );
    this.server.on('connect', (_, socket) => {
      // Node has removed its own listeners; without one, an error would end the process.
      socket.on('error', () => {});
      onConnectionProblem(CONNECT, socket as Socket); // a socket, as above
    });
    this.server.on('drop', onDropped);
    if (certificate !== undefined) this.#watchTls(onEnded);
  }

  /** The TCP connection that a request or a problem came over. */
  wireOf(socket: Socket): Socket {
    return this.#wires.get(senderOf(socket)) ?? socket;
  }

  /** Ends a connection with a TCP reset, without a byte. */
  reset(socket: Socket): void {
    this.wireOf(socket).resetAndDestroy();
    socket.destroy();
  }

  /** Closes all connections, including those still in their handshake, which Node's own method does not know. */
  closeConnections(): void {
    this.server.closeAllConnections();
    for (const wire of this.#wires.values()) wire.destroy();
  }

  #watchTls(onEnded: BoundedServerOptions['onEnded']): void {
    const withRequest = new WeakSet<Socket>();
    const remember = ({ socket }: IncomingMessage): unknown => withRequest.add(this.wireOf(socket));
    this.server.on('request', remember).on('checkExpectation', remember);
    this.server.on('connection', (wire: Socket) => {
      const sender = senderOf(wire);
      this.#wires.set(sender, wire);
      wire.on('close', () => {
        this.#wires.delete(sender);
        if (!withRequest.has(wire) && wire.bytesRead > 0) onEnded(wire, LEFT_AFTER_HANDSHAKE);
      });
    });
  }
}

/** Whether the Host header is missing that RFC 9112, 3.2 requires. */
function lacksHost({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === '1.1' && headers.host === undefined;
}

function timeoutsOf({ headersMs, requestMs }: ReceiverLimits): object {
  return {
    headersTimeout: Math.min(headersMs, requestMs),
    requestTimeout: requestMs,
    // Node looks for slow senders at this interval; its default of 30 s would let them stay that much longer.
    connectionsCheckingInterval: Math.min(headersMs, requestMs, 1_000),
    // Long, so that a sender's pooled connection rarely meets a socket that is just being closed.
    keepAliveTimeout: 60_000,
  };
}

function senderOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
