import { once } from 'node:events';
import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
import { afterEach, beforeEach, describe, expect, it } from 'vitest';
import { hooks } from '../cli/run-in-process.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { randomFrom } from '../random.ts';

interface Event {
  readonly type: string;
  readonly userId?: string;
  readonly anonymousId?: string;
  readonly 'User ID'?: string;
  readonly 'Previous ID'?: string;
  readonly event?: string;
}

interface Arrival {
  readonly body: Event;
  readonly at: number;
}

interface Behaviour {
  /** For this request, the nth of all. */
  readonly status: (body: Event, nth: number) => number;
  readonly delayMs: (body: Event) => number;
}

let folder: string;
let server: Server | undefined;
beforeEach(() => {
  folder = temporaryFolder();
});
afterEach(async () => {
  await new Promise((resolve) => (server === undefined ? resolve(undefined) : server.close(resolve)));
  server = undefined;
});

describe('hooks replay --order', () => {
  it("delivers each user's messages in the order of the file, though one request in four fails", async () => {
    const users = Array.from({ length: 12 }, (_, user) => `user-${user}`);
    const events = Array.from({ length: 6 }, (_, step) =>
      users.map((userId) => track({ userId }, step)),
    ).flat();
    const { url, accepted, refused } = await receiver({ status: oneInFourFails(), delayMs: () => 0 });
    expect(await replay(events, url)).toMatchObject({ read: 72, delivered: 72 });
    expect(refused()).toBeGreaterThan(5);
    for (const userId of users) {
      const own = accepted.filter(({ body }) => body.userId === userId);
      expect(own.map(({ body }) => body.event)).toEqual(STEPS);
    }
  });

  it('lets users go in parallel, so that a slow one holds up no other', async () => {
    const userIds = ['slow', ...Array.from({ length: 20 }, (_, user) => `user-${user}`)];
    // The slow user's come first in the file.
    const events = userIds.flatMap((userId) => STEPS.map((_, step) => track({ userId }, step)));
    const { url, accepted, mostAtOnce } = await receiver({
      status: () => 200,
      // So slow that the others have the time, on a busy machine too.
      delayMs: ({ userId }) => (userId === 'slow' ? 500 : 1),
    });
    expect(await replay(events, url)).toMatchObject({ read: 126, delivered: 126 });
    expect(mostAtOnce()).toBeGreaterThan(1);
    const ofSlow = accepted.filter(({ body }) => body.userId === 'slow').map(({ at }) => at);
    const others = accepted.filter(({ body }) => body.userId !== 'slow').map(({ at }) => at);
    // Held up by it, the last of the others would have come after the last of the slow one's.
    expect(Math.max(...others)).toBeLessThan(Math.max(...ofSlow));
    expect(ofSlow).toHaveLength(6);
  });

  it('keeps an alias after what its old id did and before what its new one does', async () => {
    const events = [
      track({ anonymousId: 'anon' }, 0),
      track({ anonymousId: 'anon' }, 1),
      { type: 'alias', previousId: 'anon', userId: 'known' },
      track({ userId: 'known' }, 2),
      track({ userId: 'known' }, 3),
    ];
    // The first fails twice, which gives the later ones time to overtake it.
    const { url, accepted } = await receiver({
      status: (_, nth) => (nth <= 2 ? 503 : 200),
      delayMs: () => 0,
    });
    expect(await replay(events, url)).toMatchObject({ delivered: 5 });
    expect(accepted.map(({ body }) => body.event ?? body.type)).toEqual([
      'step 0',
      'step 1',
      'alias',
      'step 2',
      'step 3',
    ]);
  });

  it('with none lets a message overtake one of the same user that is tried again', async () => {
    const events = STEPS.map((_, step) => track({ userId: 'u' }, step));
    let isNew = true;
    // Not the first that comes: of those sent at once, that may be any.
    const failsOnce = ({ event }: Event): number => {
      if (event !== 'step 0' || !isNew) return 200;
      isNew = false;
      return 503;
    };
    const { url, accepted } = await receiver({ status: failsOnce, delayMs: () => 0 });
    expect(await replay(events, url, ['--order', 'none'])).toMatchObject({ delivered: 6 });
    expect(accepted.at(-1)?.body.event).toBe('step 0');
  });
});

const STEPS = ['step 0', 'step 1', 'step 2', 'step 3', 'step 4', 'step 5'];

function track(who: { userId: string } | { anonymousId: string }, step: number): object {
  return { type: 'track', ...who, event: STEPS[step] };
}

/** The same requests fail in every run of the test that sends them in the same order. */
function oneInFourFails(): Behaviour['status'] {
  const random = randomFrom(20261120);
  return () => (random() < 0.25 ? 503 : 200);
}

async function replay(
  events: readonly object[],
  url: string,
  flags: readonly string[] = [],
): Promise<unknown> {
  const file = join(folder, 'events.ndjson');
  writeFileSync(file, events.map((event) => `${JSON.stringify(event)}\n`).join(''));
  const args = ['replay', file, '--url', url, '--concurrency', '8', '-o', 'json', '-q', ...flags];
  const { stdout } = await hooks(args, { timeoutMs: 30_000 });
  const last: unknown = JSON.parse(stdout.trim().split('\n').at(-1) ?? '');
  return (last as { summary: unknown }).summary; // the last line of a replay
}

async function receiver({ status, delayMs }: Behaviour) {
  const accepted: Arrival[] = [];
  let [requests, refusals, underWay, most] = [0, 0, 0, 0];
  const answer = async (request: IncomingMessage, response: ServerResponse): Promise<void> => {
    most = Math.max(most, ++underWay);
    const body = JSON.parse(await text(request)) as Event; // what hooks sends
    const answered = status(body, ++requests);
    if (answered === 200) accepted.push({ body, at: performance.now() });
    else refusals++;
    await setTimeout(delayMs(body));
    underWay--;
    response.writeHead(answered).end();
  };
  server = createServer((request, response) => void answer(request, response)).listen(0, '127.0.0.1');
  await once(server, 'listening');
  const { port } = server.address() as AddressInfo; // TCP: never a pipe's name
  return { url: `http://127.0.0.1:${port}`, accepted, refused: () => refusals, mostAtOnce: () => most };
}
