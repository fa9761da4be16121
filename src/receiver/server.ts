import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import type { Socket } from 'node:net';
import type { ReceiverLimits, ServerCertificate } from './options.ts';
import { LEFT_AFTER_HANDSHAKE, type ConnectionRefusal } from './refusal.ts';

interface ServerOptions {
  readonly limits: ReceiverLimits;
  readonly certificate: ServerCertificate | undefined;
  readonly onRequest: (request: IncomingMessage, response: ServerResponse) => void;
  readonly onFault: (error: NodeJS.ErrnoException, socket: Socket) => void;
  /** A connection that ended before there was a request on it. */
  readonly onEnded: (socket: Socket, refusal: ConnectionRefusal) => void;
  readonly onDropped: () => void;
}

/** A server that holds its senders to the limits, with TLS where there is a certificate. */
export class BoundedServer {
  readonly server: Server;
  /** By the sender's address and port: the TCP connections below those that speak TLS. */
  readonly #wires = new Map<string, Socket>();

  constructor({ limits, certificate, onRequest, onFault, onEnded, onDropped }: ServerOptions) {
    const timeouts = timeoutsOf(limits);
    this.server =
      certificate === undefined
        ? createServer(timeouts, onRequest)
        : createTlsServer({ ...timeouts, ...certificate, handshakeTimeout: limits.headersMs }, onRequest);
    this.server.maxConnections = limits.connections;
    // Both kinds hand over sockets; the type covers any stream.
    this.server.on('clientError', (error, socket) => onFault(error, socket as Socket));
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

  #watchTls(onEnded: ServerOptions['onEnded']): void {
    const asked = new WeakSet<Socket>();
    this.server.on('request', ({ socket }: IncomingMessage) => asked.add(this.wireOf(socket)));
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
