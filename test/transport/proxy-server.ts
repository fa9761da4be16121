import { once } from 'node:events';
import { createServer, request as httpRequest, type IncomingMessage } from 'node:http';
import { connect, type AddressInfo, type Socket } from 'node:net';

/** A real proxy on 127.0.0.1, which resolves every name to 127.0.0.1. */
export interface ProxyServer {
  readonly origin: string;
  readonly host: string;
  /** The requests to the proxy: `CONNECT receiver.test:443`, `POST http://receiver.test/hook`. */
  readonly asked: readonly string[];
  /** The `Proxy-Authorization` of each request. */
  readonly authorizations: readonly (string | undefined)[];
  readonly openConnections: number;
  close(): Promise<void>;
}

/** `status`: responds so to every request instead of forwarding it. `silent`: never responds. */
export async function proxyServer({ status = 0, silent = false } = {}): Promise<ProxyServer> {
  const asked: string[] = [];
  const authorizations: (string | undefined)[] = [];
  const open = new Set<Socket>();
  const note = ({ method, url, headers }: IncomingMessage): void => {
    asked.push(`${method} ${url}`);
    authorizations.push(headers['proxy-authorization']);
  };
  const server = createServer((request, response) => {
    note(request);
    if (silent) return;
    // A probe of another test asks the ports near its own with `OPTIONS *`.
    if (status > 0 || !URL.canParse(request.url ?? '')) {
      response.writeHead(status || 400).end();
      return;
    }
    const { port, pathname } = new URL(request.url ?? '');
    const { 'proxy-authorization': _, ...headers } = request.headers;
    const onward = httpRequest({ port, path: pathname, method: request.method, headers }, (answer) => {
      response.writeHead(answer.statusCode ?? 500, answer.headers);
      answer.pipe(response);
    });
    request.pipe(onward);
  });
  server.on('connect', (request: IncomingMessage, socket: Socket) => {
    note(request);
    // node:http keeps the other half of the connection open.
    socket.once('end', () => socket.end());
    if (silent) socket.resume();
    else if (status > 0) socket.end(`HTTP/1.1 ${status} No\r\n\r\n`);
    else tunnel(socket, Number(request.url?.split(':').at(-1)));
  });
  server.on('connection', (socket: Socket) => {
    open.add(socket);
    socket.on('error', () => {});
    socket.once('close', () => open.delete(socket));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const host = `127.0.0.1:${(server.address() as AddressInfo).port}`; // Not a string: it listens on a port.
  return {
    origin: `http://${host}`,
    host,
    asked,
    authorizations,
    get openConnections() {
      return open.size;
    },
    async close() {
      const closed = once(server, 'close');
      server.close();
      for (const socket of open) socket.destroy();
      await closed;
    },
  };
}

function tunnel(socket: Socket, port: number): void {
  const onward = connect(port, '127.0.0.1', () => {
    socket.write('HTTP/1.1 200 Connection established\r\n\r\n');
    socket.pipe(onward).pipe(socket);
  });
  onward.on('error', () => socket.destroy());
  socket.once('close', () => onward.destroy());
}
