// A process that adds, claims and settles as fast as it can, and is killed meanwhile (torture.test.ts, and for servers that
// restart meanwhile, server-torture.test.ts). It is bundled and run on its own. It writes a line before or after each step
// to a log that outlives it:
//   added ID…   the promise of `add` has resolved
//   post ID     an attempt would be made
//   end ID      the promise of `settle` has resolved: delivered or dead
//   again ID    the promise of `settle` has resolved: another round
import { openSync, writeSync } from 'node:fs';
import { QueueError } from '../../src/errors.ts';
import { NO_PROGRESS } from '../../src/queue/delivery.ts';
import type { Claim, Settlement } from '../../src/queue/queue.ts';
import { randomFrom } from '../random.ts';
import { openStormQueue } from './storm-queue.ts';

interface StormOptions {
  /** A file, or the URL of a server. */
  readonly file: string;
  readonly log: string;
  readonly name: string;
  readonly seed: number;
  /** Deliveries to add. Then the process continues until the queue is empty. */
  readonly adds: number;
  /** The attempt after which the process kills itself, before recording it. */
  readonly failAt?: number;
  /** @default 30_000 */
  readonly leaseMs?: number;
}

/** Consecutive failures allowed for one call. */
const MOST_FAILURES = 400;
const LANE = { source: 'web', destination: 'Webhooks' };

const options = JSON.parse(process.argv[2] ?? '{}') as StormOptions; // what torture.test.ts hands in
const random = randomFrom(options.seed);
const log = openSync(options.log, 'a', 0o600);
const { leaseMs = 30_000 } = options;
let settlings = 0;
let isAdded = false;

const queue = await patiently(() => openStormQueue(options.file, leaseMs));
process.stdout.write('ready\n');
await Promise.all([add(), deliver()]);
await queue.close();

async function add(): Promise<void> {
  for (let count = 0; count < options.adds;) {
    const size = Math.min(1 + Math.floor(random() * 8), options.adds - count);
    const ids = Array.from({ length: size }, () => `${options.name}-${count++}`);
    const now = Date.now();
    const deliveries = ids.map((id) => ({
      id,
      ...LANE,
      messageId: id,
      type: 'track',
      body: Buffer.from(id),
      orderKeys: random() < 0.5 ? [`user-${Math.floor(random() * 4)}`] : [],
      createdAt: now,
      dueAt: now,
      state: 'pending' as const,
      progress: NO_PROGRESS,
    }));
    await patiently(() => queue.add(deliveries));
    write(`added ${ids.join(' ')}`);
  }
  isAdded = true;
}

async function deliver(): Promise<void> {
  for (let isEmpty = false; !isEmpty;) {
    // Before the claim: later additions do not count for it.
    const wasAdded = isAdded;
    const { claims, nextDueAt } = await patiently(async () => queue.claim({ ...LANE, limit: 8, leaseMs }));
    await Promise.all(claims.map(seeThrough));
    isEmpty = wasAdded && claims.length === 0 && nextDueAt === undefined;
    if (claims.length === 0) await new Promise((resolve) => setTimeout(resolve, 5));
  }
}

async function seeThrough(claim: Claim): Promise<void> {
  const { id, progress } = claim.delivery;
  const begun = {
    ...progress,
    rounds: progress.rounds + 1,
    firstAttemptAt: progress.firstAttemptAt ?? Date.now(),
  };
  if (!(await patiently(() => queue.renew(claim, begun, leaseMs)))) return;
  write(`post ${id}`);
  await new Promise((resolve) => setImmediate(resolve));
  const settlement = settlementFor(begun);
  if (++settlings === options.failAt) process.kill(process.pid, 'SIGKILL');
  if (await patiently(async () => queue.settle(claim, settlement))) {
    write(`${settlement.state === 'retrying' ? 'again' : 'end'} ${id}`);
  }
}

function settlementFor(begun: typeof NO_PROGRESS): Settlement {
  const chance = random();
  if (chance < 0.1) return { state: 'retrying', dueAt: Date.now() + 3, progress: begun };
  if (chance < 0.15) return { state: 'dead', reason: 'rejected', progress: begun };
  return { state: 'delivered', progress: begun };
}

/** Repeats a call while its server is away. */
async function patiently<T>(act: () => Promise<T>): Promise<T> {
  for (let failures = 0; ; failures++) {
    try {
      return await act();
    } catch (error) {
      if (!(error instanceof QueueError) || !isPassing(error) || failures === MOST_FAILURES) throw error;
    }
    await new Promise((resolve) => setTimeout(resolve, 50));
  }
}

/** Whether the error comes from a server that is away. */
function isPassing({ message }: QueueError): boolean {
  return /cannot be reached|does not respond|starting or stopping/.test(message);
}

/** One write per line, so that a kill cannot split a line. */
function write(line: string): void {
  writeSync(log, `${line}\n`);
  process.stdout.write('.\n');
}
