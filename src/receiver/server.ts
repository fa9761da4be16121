import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { ReceiverLimits, ServerCertificate } from './options.ts';
import {
  CONNECT,
  LEFT_AFTER_HANDSHAKE,
  NO_HOST,
  OTHER_EXPECTATION,
  connectionFaultOf,
  type ConnectionFault,
  type RequestFault,
} from './connection-fault.ts';

interface BoundedServerOptions {
  readonly limits: ReceiverLimits;
  readonly certificate: ServerCertificate | undefined;
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => void;
  /** A request whose headers say that it is not to be taken; its body is to come. */
  readonly onUnfit: (response: ServerResponse, refusal: RequestFault) => void;
  /** What comes to no request and ends its connection; undefined for a mere end of one. */
  readonly onFault: (refusal: ConnectionFault | undefined, socket: Socket) => void;
  /** A connection that ended before there was a request on it. */
  readonly onEnded: (socket: Socket, refusal: ConnectionFault) => void;
  readonly onDropped: () => void;
}

/** A server that holds its senders to the limits, with TLS where there is a certificate. */
export class BoundedServer {
  readonly server: Server;
  /** By the sender's address and port: the TCP connections below those that speak TLS. */
  readonly #wires = new Map<string, Socket>();

  constructor({
    limits,
    certificate,
    onRequest,
    onUnfit,
    onFault,
    onEnded,
    onDropped,
  }: BoundedServerOptions) {
    // Node would refuse what has no Host by itself, and tell nobody.
    const settings = { ...timeoutsOf(limits), requireHostHeader: false };
    const take: typeof onRequest = (request, response) =>
      lacksHost(request) ? onUnfit(response, NO_HOST) : onRequest(request, response);
    this.server =
      certificate === undefined
        ? createServer(settings, take)
        : createTlsServer({ ...settings, ...certificate, handshakeTimeout: limits.headersMs }, take);
    this.server.maxConnections = limits.connections;
    this.server.on('checkExpectation', (_, response) => onUnfit(response, OTHER_EXPECTATION));
    // Both kinds hand over sockets; the type covers any stream.
    this.server.on('clientError', (error, socket) => onFault(connectionFaultOf(error), socket as Socket));
    this.server.on('connect', (_, socket) => {
      // Node has taken its own listeners off; without one, an error would end the process.
      socket.on('error', () => {});
      onFault(CONNECT, socket as Socket);
    });
    this.server.on('drop', onDropped);
    if (certificate !== undefined) this.#watchTls(onEnded);
  }

  /** The TCP connection that a request or a fault came over. */
  wireOf(socket: Socket): Socket {
    return this.#wires.get(senderOf(socket)) ?? socket;
  }

  /** Ends a connection with a TCP reset, without a byte. */
  reset(socket: Socket): void {
    this.wireOf(socket).resetAndDestroy();
    socket.destroy();
  }

  /** All of them, those too that are still in their handshake, of which Node's own way knows nothing. */
  closeConnections(): void {
    this.server.closeAllConnections();
    for (const wire of this.#wires.values()) wire.destroy();
  }

  #watchTls(onEnded: BoundedServerOptions['onEnded']): void {
    const asked = new WeakSet<Socket>();
    const ask = ({ socket }: IncomingMessage): unknown => asked.add(this.wireOf(socket));
    this.server.on('request', ask).on('checkExpectation', ask);
    this.server.on('connection', (wire: Socket) => {
      const sender = senderOf(wire);
      this.#wires.set(sender, wire);
      wire.on('close', () => {
        this.#wires.delete(sender);
        if (!asked.has(wire) && wire.bytesRead > 0) onEnded(wire, LEFT_AFTER_HANDSHAKE);
      });
    });
  }
}

/** RFC 9112, 3.2. */
function lacksHost({ httpVersion, headers }: IncomingMessage): boolean {
  return httpVersion === '1.1' && headers.host === undefined;
}

function timeoutsOf({ headersMs, requestMs }: ReceiverLimits): object {
  return {
    headersTimeout: Math.min(headersMs, requestMs),
    requestTimeout: requestMs,
    // Node looks for slow senders only this often; its own 30 s would let them stay that much longer.
    connectionsCheckingInterval: Math.min(headersMs, requestMs, 1_000),
    // Long, so that a sender's pooled connection hardly ever meets a socket that is just being closed.
    keepAliveTimeout: 60_000,
  };
}

function senderOf({ remoteAddress, remotePort }: Socket): string {
  return `${remoteAddress} ${remotePort}`;
}
