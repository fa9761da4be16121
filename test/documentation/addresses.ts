import { freePort } from '../free-port.ts';

const PORT = /(?<=(?:localhost|127\.0\.0\.1):|--(?:metrics-)?port |\bPORT=)\d{4,5}\b/g;
/** Hosts that nobody has (RFC 2606). */
const PUBLIC = /https:\/\/[\w.-]+\.(?:example|invalid)\b/g;
const DEFAULT_PORTS: Readonly<Record<string, string>> = { listen: '8787', serve: '8788' };

/** Maps the addresses of a page to free ports of this machine, and its public hosts to a receiver there. */
export class Addresses {
  readonly #ports: ReadonlyMap<string, number>;
  readonly #receiver: string;
  readonly #others: (readonly [address: string, here: string])[] = [];

  /** Whether the page has public hosts. */
  readonly hasPublic: boolean;

  private constructor(ports: ReadonlyMap<string, number>, receiver: string, hasPublic: boolean) {
    this.#ports = ports;
    this.#receiver = receiver;
    this.hasPublic = hasPublic;
  }

  /** `receiver` is the URL of a receiver that accepts every message. */
  static async of(page: string, receiver: string): Promise<Addresses> {
    const ports = new Map<string, number>();
    for (const port of new Set([...(page.match(PORT) ?? []), ...Object.values(DEFAULT_PORTS)])) {
      ports.set(port, await freePort());
    }
    return new Addresses(ports, receiver.replace(/\/$/, ''), page.search(PUBLIC) !== -1);
  }

  /** Maps another address of the page. */
  add(address: string, here: string): void {
    this.#others.push([address, here]);
  }

  mapped(text: string): string {
    return this.#others
      .reduce((result, [address, here]) => result.replaceAll(address, here), text)
      .replaceAll(PORT, (port) => String(this.#ports.get(port) ?? port))
      .replaceAll(PUBLIC, this.#receiver);
  }

  /** Returns the command at mapped addresses, also for a command that has only its default port. */
  command(line: string): string {
    const [, verb = ''] = /^hooks (listen|serve)\b(?!.*--port)/.exec(line) ?? [];
    return this.mapped(verb === '' ? line : `${line} --port ${DEFAULT_PORTS[verb]}`);
  }

  /** Returns the port at which a command or its receiver listens. */
  static portIn(command: string): number | undefined {
    const [port] = /(?<=--port )\d+/.exec(command) ?? command.match(PORT) ?? [];
    return port === undefined ? undefined : Number(port);
  }
}
