import { once } from 'node:events';
import { connect, type Socket } from 'node:net';

/** A TCP client that sends and receives raw bytes. */
export class RawConnection {
  readonly socket: Socket;
  #received = '';
  #ending: 'open' | 'end' | 'reset' = 'open';

  private constructor(socket: Socket) {
    this.socket = socket;
    socket.setEncoding('latin1').on('data', (text: string) => (this.#received += text));
    socket.on('end', () => (this.#ending = 'end'));
    socket.on('error', () => (this.#ending = 'reset'));
  }

  /** Connects, and writes `first` if it is given. */
  static async open(port: number, first?: string | Uint8Array): Promise<RawConnection> {
    const socket = connect(port, '127.0.0.1');
    const connection = new RawConnection(socket);
    await once(socket, 'connect');
    if (first !== undefined) connection.write(first);
    return connection;
  }

  write(bytes: string | Uint8Array): void {
    this.socket.write(bytes);
  }

  /** Resolves with all received text when it matches. Rejects if the connection ends before. */
  async until(pattern: RegExp): Promise<string> {
    while (!pattern.test(this.#received)) {
      if (this.socket.closed) throw new Error(`Ended (${this.#ending}) after: ${this.#received}`);
      await nextOf(this.socket, ['data', 'close']);
    }
    return this.#received;
  }

  /** Resolves when the connection is closed, with how the server ended it. */
  async closed(): Promise<{ ending: 'open' | 'end' | 'reset'; received: string }> {
    if (!this.socket.closed) await nextOf(this.socket, ['close']);
    return { ending: this.#ending, received: this.#received };
  }
}

function nextOf(socket: Socket, events: readonly string[]): Promise<void> {
  return new Promise((resolve, reject) => {
    const settle = (error?: Error): void => {
      clearTimeout(timer);
      for (const event of events) socket.off(event, listener);
      if (error === undefined) resolve();
      else reject(error);
    };
    const listener = (): void => settle();
    const timer = setTimeout(() => settle(new Error(`No ${events.join(' or ')} for 10 s`)), 10_000);
    for (const event of events) socket.on(event, listener);
  });
}

/** The text of a POST. Each of `headers` is a whole line. */
export function rawPost(body: string, headers: readonly string[] = [], path = '/hook'): string {
  const lines = [
    `POST ${path} HTTP/1.1`,
    'Host: a',
    ...headers,
    `Content-Length: ${Buffer.byteLength(body)}`,
  ];
  return `${lines.join('\r\n')}\r\n\r\n${body}`;
}
