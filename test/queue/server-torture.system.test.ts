// Needs redis-server, postgres.
import { join } from 'node:path';
import { setTimeout as wait } from 'node:timers/promises';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { Delivery } from '../../src/queue/delivery.ts';
import { ServerInspection } from '../../src/stores/server/queue/server-inspection.ts';
import { openServer } from '../../src/stores/server/open-server.ts';
import { linkTo, type Link } from '../stores/server/link.ts';
import { hasServer, SERVER_KINDS, startServer, type TestServer } from '../stores/server/servers.ts';
import { makeProgram, type Program } from '../stores/sqlite/program.ts';
import { randomFrom } from '../random.ts';
import { IS_LONG, KILLS, SEED } from '../torture.ts';
import { duplicatesOf, told, type Told } from './told.ts';

const ADDS = IS_LONG ? 100 : 25;
/** Others take over what a killed process had so much later, and somewhat. */
const LEASE_MS = 1_000;
/** After at most so many lines a process is killed: fewer than most have to say, so that a few rounds are enough. */
const MOST_LINES = 1.2 * ADDS;
/** More often than BullMQ would give up by itself. */
const [CRASHES, BLOWS, MOST_KILLS] = IS_LONG ? [10, KILLS / 4, KILLS] : [3, 1, 4];
const LONGEST_MS = IS_LONG ? 600_000 : 60_000;
/** For what is left at the end. */
const CALM_MS = LONGEST_MS / 2;

let storm: Program;

beforeAll(async () => {
  storm = await makeProgram('test/queue/storm.ts');
});

afterAll(() => storm.remove());

for (const kind of SERVER_KINDS) {
  describe.skipIf(!hasServer(kind))(`processes that share a queue on ${kind} (seed ${SEED})`, () => {
    let server: TestServer;
    let link: Link;
    const random = randomFrom(SEED);
    const run = (options: Readonly<Record<string, unknown>>, how = {}): ReturnType<Program['run']> =>
      storm.run({ leaseMs: LEASE_MS, seed: SEED, ...options }, { longestMs: LONGEST_MS, ...how });

    beforeAll(async () => {
      server = await startServer(kind);
      link = await linkTo(server.url);
    });

    afterAll(async () => {
      await link.close();
      await server.remove();
    });

    it(
      'deliver everything, each once but for its retries',
      async () => {
        const log = join(storm.folder, `${kind}-calm.log`);
        const ends = await Promise.all(
          [1, 2, 3].map((number) =>
            run({
              file: server.url,
              log,
              name: `calm${number}`,
              seed: SEED + number,
              adds: ADDS,
              leaseMs: 30_000,
            }),
          ),
        );
        expect(ends).toMatchObject(ends.map(() => ({ code: 0, stderr: '' })));
        const all = told(log);
        expect(all.added).toHaveLength(3 * ADDS);
        await expectAllSettled(server.url, all);
        expect(duplicatesOf(all)).toBe(0);
      },
      LONGEST_MS,
    );

    it(
      `lose nothing that was acknowledged, though they are killed, and the server is killed, stopped and cut off`,
      async ({ annotate }) => {
        const log = join(storm.folder, `${kind}-storm.log`);
        let killed = 0;
        for (let round = 0; killed < MOST_KILLS; round++) {
          const calm = new AbortController();
          const blows = strike(calm.signal, round);
          const ends = await Promise.all(
            [0, 1].map((side) => {
              const seed = SEED + 2 * round + side;
              const name = `storm${round}${side === 0 ? 'a' : 'b'}`;
              const file = side === 0 ? server.url : link.url;
              const killAfter = 2 + Math.floor(randomFrom(seed)() * MOST_LINES);
              // In the short form the blows meet processes that live.
              const how = IS_LONG || round >= BLOWS ? { killAfter } : {};
              return run({ file, log, name, seed, adds: ADDS }, how);
            }),
          );
          calm.abort();
          await blows;
          killed += ends.filter(({ signal }) => signal === 'SIGKILL').length;
          expect(ends.map(({ stderr }) => stderr)).toEqual(['', '']);
        }
        // What is held for ever keeps it for ever: then it is said below what that is.
        const last = await run({ file: server.url, log, name: 'last', adds: 0 }, { longestMs: CALM_MS });
        const all = told(log);
        await expectAllSettled(server.url, all, { mayRepeat: kind === 'postgres' });
        expect(last).toMatchObject({ code: 0, stderr: '' });
        await annotate(`${killed} kills, ${all.added.length} acknowledged, ${duplicatesOf(all)} duplicates`);
      },
      LONGEST_MS * 2,
    );

    it(
      `deliver one that killed its process ${CRASHES} times in a row`,
      async () => {
        const log = join(storm.folder, `${kind}-fatal.log`);
        const fatal = { file: server.url, log, name: 'fatal', leaseMs: 300 };
        for (let crash = 0; crash < CRASHES; crash++) {
          const end = await run({ ...fatal, adds: crash === 0 ? 1 : 0, failAt: 1 });
          expect(end).toMatchObject({ signal: 'SIGKILL', stderr: '' });
        }
        // Whatever its seed makes of it, and however often it is tried again.
        expect(await run({ ...fatal, adds: 0 })).toMatchObject({ code: 0, stderr: '' });
        const all = told(log);
        expect(all.posts.slice(0, CRASHES)).toEqual(Array.from({ length: CRASHES }, () => 'fatal-0'));
        await expectAllSettled(server.url, all);
      },
      LONGEST_MS,
    );

    /** Now and then, until it is told that the round is over. The server and the way to it are well again afterwards. */
    async function strike(calm: AbortSignal, round: number): Promise<void> {
      const isStruck = IS_LONG ? round % 4 === 0 : round < BLOWS;
      if (!isStruck) return;
      await wait(100 + random() * 300);
      await server.kill();
      await wait(random() * 200);
      await server.start();
      if (calm.aborted) return;
      server.pause();
      await wait(50 + random() * 300);
      server.resume();
      link.cut();
      await wait(50 + random() * 200);
      link.mend();
    }
  });
}

/**
 * Each is delivered or dead, told so once at most, and those of one order key were first tried in the order of adding.
 * `mayRepeat`: the server was killed, which forgets how the last of them ended.
 */
async function expectAllSettled(
  url: string,
  { added, ended, posts }: Told,
  { mayRepeat = false } = {},
): Promise<void> {
  const server = await openServer(url);
  const inspection = new ServerInspection({ server, clock: systemClock });
  const found = new Map<string, Delivery>();
  for (let after: number | undefined = 0; after !== undefined;) {
    const states = ['pending', 'sending', 'retrying', 'delivered', 'dead'] as const;
    const page = await inspection.list({ states, after, limit: 500 });
    for (const delivery of page.deliveries) found.set(delivery.id, delivery);
    after = page.next;
  }
  await server.close();
  const stateOf = (id: string): string => found.get(id)?.state ?? 'lost';
  const unsettled = added.filter((id) => !['delivered', 'dead'].includes(stateOf(id)));
  expect(unsettled.map((id) => `${id} ${stateOf(id)} ${String(found.get(id)?.orderKeys)}`)).toEqual([]);
  if (!mayRepeat) expect(new Set(ended).size).toBe(ended.length);
  expectInOrder(posts, found, added);
}

/** What two processes added at once has no order: so for each of them by itself. */
function expectInOrder(
  posts: readonly string[],
  found: ReadonlyMap<string, Delivery>,
  added: readonly string[],
): void {
  const first = new Map<string, number>();
  posts.forEach((id, place) => first.set(id, first.get(id) ?? place));
  const lines = new Map<string, string[]>();
  for (const id of added) {
    const key = found.get(id)?.orderKeys[0];
    const line = `${id.split('-')[0]} ${key}`;
    if (key !== undefined) lines.set(line, [...(lines.get(line) ?? []), id]);
  }
  for (const ids of lines.values()) {
    const places = ids.map((id) => first.get(id) ?? -1);
    expect(places).toEqual(places.toSorted((a, b) => a - b));
  }
}
