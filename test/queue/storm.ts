// A process that adds, claims and settles as fast as it can, to be killed in the midst (torture.test.ts). It is bundled
// and run by itself; what it says goes to a log that outlives it, a line before or after each step:
//   added ID…   the promise of `add` has resolved
//   post ID     what an attempt would be
//   end ID      the promise of `settle` has resolved: delivered or dead
//   again ID    the promise of `settle` has resolved: another round
import { openSync, writeSync } from 'node:fs';
import { systemClock } from '../../src/clock.ts';
import { NO_PROGRESS } from '../../src/queue/delivery.ts';
import type { Claim, Settlement } from '../../src/queue/queue.ts';
import { SqliteQueue } from '../../src/queue/sqlite-queue.ts';
import { QUEUE_TABLES } from '../../src/queue/tables.ts';
import { openStore } from '../../src/store/open-store.ts';

interface StormOptions {
  readonly file: string;
  readonly log: string;
  readonly name: string;
  readonly seed: number;
  /** Deliveries to add; then it goes on until nothing is left. */
  readonly adds: number;
  /** Ends itself by SIGKILL between the so-many-th attempt and its record. */
  readonly failAt?: number;
}

const LANE = { source: 'web', destination: 'Webhooks' };
const LEASE_MS = 30_000;

const options = JSON.parse(process.argv[2] ?? '{}') as StormOptions; // what torture.test.ts hands in
const random = randomFrom(options.seed);
const log = openSync(options.log, 'a', 0o600);
let settlings = 0;

const store = await openStore(options.file, { clock: systemClock, tables: [QUEUE_TABLES] });
const queue = new SqliteQueue({
  store,
  clock: systemClock,
  failPoint: (point) => {
    if (point === 'settling' && ++settlings === options.failAt) process.kill(process.pid, 'SIGKILL');
  },
});
process.stdout.write('ready\n');
await Promise.all([add(), deliver()]);
await queue.close();
await store.close();

async function add(): Promise<void> {
  for (let count = 0; count < options.adds;) {
    const size = Math.min(1 + Math.floor(random() * 8), options.adds - count);
    const ids = Array.from({ length: size }, () => `${options.name}-${count++}`);
    const now = Date.now();
    await queue.add(
      ids.map((id) => ({
        id,
        ...LANE,
        messageId: id,
        type: 'track',
        body: Buffer.from(id),
        orderKeys: random() < 0.5 ? [`user-${Math.floor(random() * 4)}`] : [],
        createdAt: now,
        dueAt: now,
      })),
    );
    write(`added ${ids.join(' ')}`);
  }
}

async function deliver(): Promise<void> {
  for (let isEmpty = false; !isEmpty;) {
    const { claims, nextDueAt } = await queue.claim({ ...LANE, limit: 8, leaseMs: LEASE_MS });
    await Promise.all(claims.map(seeThrough));
    isEmpty = claims.length === 0 && nextDueAt === undefined;
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
  if (!(await queue.renew(claim, begun, LEASE_MS))) return;
  write(`post ${id}`);
  await new Promise((resolve) => setImmediate(resolve));
  const settlement = settlementFor(begun);
  if (await queue.settle(claim, settlement))
    write(`${settlement.state === 'retrying' ? 'again' : 'end'} ${id}`);
}

function settlementFor(begun: typeof NO_PROGRESS): Settlement {
  const chance = random();
  if (chance < 0.1) return { state: 'retrying', dueAt: Date.now() + 3, progress: begun };
  if (chance < 0.15) return { state: 'dead', reason: 'rejected', progress: begun };
  return { state: 'delivered', progress: begun };
}

/** One write for a line: a kill cuts no line in two. */
function write(line: string): void {
  writeSync(log, `${line}\n`);
  process.stdout.write('.\n');
}

/** Mulberry32: small, and the same everywhere. */
function randomFrom(seed: number): () => number {
  let state = seed;
  return () => {
    state = (state + 0x6d2b79f5) | 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
}
