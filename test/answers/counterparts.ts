import { createHmac } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingHttpHeaders, type Server, type ServerResponse } from 'node:http';
import { createServer as createTlsServer, type ServerOptions } from 'node:https';
import type { AddressInfo, Server as NetServer, Socket } from 'node:net';
import { buffer } from 'node:stream/consumers';

/** The secret of the cases that have one. */
export const SECRET = 's3cret';

export interface CounterpartRequest {
  readonly method: string;
  /** With its query. */
  readonly path: string;
  readonly headers: IncomingHttpHeaders;
  readonly body: Buffer;
  /** How many requests came before. */
  readonly index: number;
}

export interface CounterpartResponse {
  /** @default 200 */
  readonly status?: number;
  readonly headers?: Readonly<Record<string, string | readonly string[]>>;
  readonly body?: string | Buffer;
}

/** What a receiver responds. `reset` cuts the connection, `close` ends it without a byte, `hang` never responds. */
export type Respond = (
  request: CounterpartRequest,
) =>
  | CounterpartResponse
  | 'reset'
  | 'close'
  | 'hang'
  | Promise<CounterpartResponse | 'reset' | 'close' | 'hang'>;

/** A server of the tests on a loopback address. */
export interface Counterpart {
  readonly port: number;
  readonly close: () => Promise<void>;
}

/** A receiver over HTTP, or over TLS when there are options for it. */
export function startHttp(respond: Respond, tls?: ServerOptions, host = '127.0.0.1'): Promise<Counterpart> {
  const server = tls === undefined ? createServer() : createTlsServer(tls);
  let index = 0;
  server.on('request', (request, response) => {
    const at = index++;
    const { method = '', url: path = '', headers } = request;
    void buffer(request)
      .then((body) => respond({ method, path, headers, body, index: at }))
      .then((said) => write(said, response))
      .catch(() => request.socket.destroy()); // a client that has gone
  });
  return listening(server, host);
}

function write(said: Awaited<ReturnType<Respond>>, response: ServerResponse): void {
  if (said === 'hang') return;
  if (said === 'reset') response.socket?.resetAndDestroy();
  else if (said === 'close') response.socket?.destroy();
  else {
    // Node's type has lists that may be changed.
    response.writeHead(said.status ?? 200, said.headers as Record<string, string | string[]> | undefined);
    response.end(said.body ?? '');
  }
}

/** Listens at a free port, and closes with all its connections. */
export async function listening(
  server: NetServer | Server,
  host = '127.0.0.1',
  port = 0,
): Promise<Counterpart> {
  const open = new Set<Socket>();
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => {}).once('close', () => open.delete(socket));
  });
  server.on('tlsClientError', () => {});
  server.listen(port, host);
  await once(server, 'listening');
  return {
    port: (server.address() as AddressInfo).port, // it listens at a port
    close: async () => {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

/** Always the same response. */
export function responds(
  status: number,
  body: string | Buffer = '',
  headers: CounterpartResponse['headers'] = {},
): Respond {
  return () => ({ status, body, headers });
}

/** A correct receiver of the contract, but for what `fault` makes of a request; undefined leaves it as it is. */
export function rightBut(
  fault: (request: CounterpartRequest, isValid: boolean) => Awaited<ReturnType<Respond>> | undefined = () =>
    undefined,
  secret = SECRET,
): Respond {
  return (request) => {
    const isValid = request.headers['x-signature'] === hmac(request.body, secret);
    const planted = fault(request, isValid);
    if (planted !== undefined) return planted;
    if (!isValid) return { status: 401, body: 'bad signature' };
    return isJson(request.body) ? { status: 200, body: 'ok' } : { status: 400, body: 'not JSON' };
  };
}

export function hmac(body: Buffer | string, secret = SECRET): string {
  return createHmac('sha1', secret).update(body).digest('hex');
}

export function isJson(body: Buffer): boolean {
  try {
    JSON.parse(body.toString());
    return true;
  } catch {
    return false;
  }
}
