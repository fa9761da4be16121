import { once } from 'node:events';
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { buffer } from 'node:stream/consumers';
import { onTestFinished } from 'vitest';
import { linkTo, type Link } from '../stores/server/link.ts';
import {
  startReplica,
  startServer,
  type Replica,
  type ServerKind,
  type TestServer,
} from '../stores/server/servers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { hooks, startHooks, type HooksResult, type RunningHooks } from './hooks.ts';
import { jsonLines } from './receiving.ts';
import { nextJson } from './running-command.ts';

const LONGEST_MS = 240_000;

/** A primary and its replica. Processes of hooks reach the primary by `front`, the replica reaches it by `replication`. */
export interface Pair {
  readonly primary: TestServer;
  readonly replica: Replica;
  readonly front: Link;
  readonly replication: Link;
}

export async function startPair(kind: ServerKind): Promise<Pair> {
  const cleanUps: (() => Promise<void>)[] = [];
  onTestFinished(async () => {
    for (const cleanUp of cleanUps.toReversed()) await cleanUp();
  }, LONGEST_MS);
  const primary = await startServer(kind);
  cleanUps.push(() => primary.remove());
  const [front, replication] = [await linkTo(primary.url), await linkTo(primary.url)];
  cleanUps.push(
    () => front.close(),
    () => replication.close(),
  );
  const replica = await startReplica(kind, replication.url);
  cleanUps.push(() => replica.remove());
  return { primary, replica, front, replication };
}

export interface Arrival {
  readonly messageId: string;
  readonly userId: string;
  /** By `performance.now()`. */
  readonly at: number;
}

export interface TimedReceiver {
  readonly url: string;
  readonly arrivals: readonly Arrival[];
  /** Time from a request to its response. */
  delayMs: number;
}

/** Starts a receiver that records when each message arrives, and responds with 200 after `delayMs`. */
export async function timedReceiver(delayMs: number): Promise<TimedReceiver> {
  const arrivals: Arrival[] = [];
  const receive = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    const { messageId, userId } = JSON.parse(String(await buffer(request))) as Omit<Arrival, 'at'>;
    arrivals.push({ messageId, userId, at: performance.now() });
    setTimeout(() => response.end(), receiver.delayMs);
  };
  const server = createServer((request, response) => {
    receive(request, response).catch(() => response.destroy());
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
  onTestFinished(() => {
    server.close();
    server.closeAllConnections();
  });
  const { port } = server.address() as AddressInfo; // it listens on a port
  const receiver: TimedReceiver = { url: `http://127.0.0.1:${port}/`, arrivals, delayMs };
  return receiver;
}

/** The number of deliveries in each state. */
export type Total = Readonly<Record<'pending' | 'sending' | 'retrying' | 'delivered' | 'dead', number>>;

/** The commands of a test with one store. */
export class Commands {
  readonly #store: string;
  readonly #cwd: string;

  /** `writeKeys`: the write key of each source. All sources deliver to the receiver. */
  constructor(store: string, receiverUrl: string, writeKeys: Readonly<Record<string, string>>) {
    const sources = Object.entries(writeKeys).map(([name, writeKey]) => {
      const Webhooks = { webhooks: [receiverUrl], sharedSecret: 's3cret', delivery: { concurrency: 8 } };
      return [name, { writeKey, destinations: { Webhooks } }] as const;
    });
    const config = JSON.stringify({ sources: Object.fromEntries(sources) });
    this.#store = store;
    this.#cwd = temporaryFolder({ '.hooksrc.json': config });
  }

  run(...words: readonly string[]): Promise<HooksResult> {
    return hooks([...words, '--store', this.#store, '-o', 'json'], this.#options());
  }

  /** Starts a command that runs until it is stopped, and waits until it is ready. */
  async start(...words: readonly string[]): Promise<RunningHooks & { readonly url: string }> {
    const flags = ['--store', this.#store, '--allow-private', '-o', 'json', '-q'];
    const running = startHooks([...words, ...flags], this.#options());
    const { url = '' } = await nextJson<{ readonly url?: string }>(running);
    return { ...running, url };
  }

  /** Queues these messages with `replay --order user`. */
  async queue(messages: readonly { readonly userId: string; readonly messageId: string }[]): Promise<void> {
    const lines = messages.map((each) => JSON.stringify({ type: 'track', event: 'Step', ...each }));
    const folder = temporaryFolder({ 'steps.ndjson': `${lines.join('\n')}\n` });
    const args = ['replay', `${folder}/steps.ndjson`, '--queue', '--order', 'user', '--source', 'web', '-q'];
    const { code, stderr } = await this.run(...args);
    if (code !== 0) throw new Error(`replay --queue ended with ${code}: ${stderr}`);
  }

  /** Waits until no delivery waits or is in flight. Returns the counts by state. */
  async untilSettled(): Promise<Total> {
    let total: Total | undefined;
    const isSettled = async (): Promise<boolean> => {
      const { code, stdout, stderr } = await this.run('queue', 'stats');
      if (code !== 0 || stderr !== '') throw new Error(`queue stats ended with ${code}: ${stderr}`);
      total = jsonLines<{ total: Total }>(stdout).at(-1)?.total;
      return total !== undefined && total.pending + total.sending + total.retrying === 0;
    };
    await until(isSettled, 'the queue to be settled', { seconds: 90 });
    if (total === undefined) throw new Error('queue stats printed no total');
    return total;
  }

  /** Returns the ids of all messages in the queue, whatever their state. */
  async messageIds(): Promise<ReadonlySet<string>> {
    const states = ['pending', 'sending', 'retrying', 'delivered', 'dead'];
    const args = ['queue', 'list', '--limit', '1000000', '--state', ...states];
    const { stdout } = await this.run(...args);
    return new Set(jsonLines<{ messageId: string }>(stdout).map(({ messageId }) => messageId));
  }

  #options() {
    const env = { HOOKS_DATA_DIR: temporaryFolder() };
    return { cwd: this.#cwd, env, timeoutMs: LONGEST_MS };
  }
}
