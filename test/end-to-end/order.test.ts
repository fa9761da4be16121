import { describe, expect, it } from 'vitest';
import { hooks } from '../cli/run-in-process.ts';
import { randomFrom } from '../random.ts';
import { receiver as rawReceiver } from '../raw-receiver.ts';
import { started } from '../transport/sending.ts';
import { answer } from './failing-receiver.ts';
import { summaryOf } from './receiving.ts';

interface Event {
  readonly type: string;
  readonly userId?: string;
  readonly anonymousId?: string;
  readonly 'User ID'?: string;
  readonly 'Previous ID'?: string;
  readonly event?: string;
}

interface Behavior {
  /** Returns the status for the nth request. */
  readonly status: (body: Event, nth: number) => number;
  readonly delayMs: (body: Event) => number;
}

describe('hooks replay --order', () => {
  it("delivers each user's messages in the order of the file, even if one request in four fails", async () => {
    const users = Array.from({ length: 12 }, (_, user) => `user-${user}`);
    const events = Array.from({ length: 6 }, (_, step) =>
      users.map((userId) => track({ userId }, step)),
    ).flat();
    const { url, accepted, rejected } = await receiver({ status: oneInFourFails(), delayMs: () => 0 });
    expect(await replay(events, url)).toMatchObject({ read: 72, delivered: 72 });
    expect(rejected()).toBeGreaterThan(5);
    for (const userId of users) {
      const own = accepted.filter(({ body }) => body.userId === userId);
      expect(own.map(({ body }) => body.event)).toEqual(STEPS);
    }
  });

  it('sends the messages of different users concurrently, so that a slow user does not delay others', async () => {
    const userIds = ['slow', ...Array.from({ length: 20 }, (_, user) => `user-${user}`)];
    // The messages of the slow user are the first in the file.
    const events = userIds.flatMap((userId) => STEPS.map((_, step) => track({ userId }, step)));
    const { url, accepted, mostAtOnce } = await receiver({
      status: () => 200,
      // So slow that the other users are faster even on a busy machine.
      delayMs: ({ userId }) => (userId === 'slow' ? 500 : 1),
    });
    expect(await replay(events, url)).toMatchObject({ read: 126, delivered: 126 });
    expect(mostAtOnce()).toBeGreaterThan(1);
    const ofSlow = accepted.filter(({ body }) => body.userId === 'slow').map(({ at }) => at);
    const others = accepted.filter(({ body }) => body.userId !== 'slow').map(({ at }) => at);
    // If the slow user delayed the others, their last message would arrive after the last of the slow user.
    expect(Math.max(...others)).toBeLessThan(Math.max(...ofSlow));
    expect(ofSlow).toHaveLength(6);
  });

  it('sends an alias after the messages of its old id and before those of its new id', async () => {
    const events = [
      track({ anonymousId: 'anon' }, 0),
      track({ anonymousId: 'anon' }, 1),
      { type: 'alias', previousId: 'anon', userId: 'known' },
      track({ userId: 'known' }, 2),
      track({ userId: 'known' }, 3),
    ];
    // The first message fails twice, so that later messages have time to overtake it.
    const { url, accepted } = await receiver({
      status: (_, nth) => (nth <= 2 ? 503 : 200),
      delayMs: () => 0,
    });
    expect(await replay(events, url)).toMatchObject({ delivered: 5 });
    const came = accepted.map(({ body }) => body.event ?? body.type);
    expect(came.join(', ')).toBe('step 0, step 1, alias, step 2, step 3');
  });

  it('lets a message overtake a retried message of the same user with none', async () => {
    const events = STEPS.map((_, step) => track({ userId: 'u' }, step));
    let isNew = true;
    // Not the first request, which may be that of any message, because they are sent concurrently.
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

/** Fails the same requests in every run of a test that sends them in the same order. */
function oneInFourFails(): Behavior['status'] {
  const random = randomFrom(20261120);
  return () => (random() < 0.25 ? 503 : 200);
}

async function replay(
  events: readonly object[],
  url: string,
  flags: readonly string[] = [],
): Promise<unknown> {
  const stdin = events.map((event) => `${JSON.stringify(event)}\n`).join('');
  const args = ['replay', '-', '--url', url, '--concurrency', '8', '-o', 'json', '-q', ...flags];
  const { stdout } = await hooks(args, { stdin });
  return summaryOf(stdout, { quiet: true });
}

async function receiver({ status, delayMs }: Behavior) {
  const accepted: { readonly body: Event; readonly at: number }[] = [];
  let [requests, rejections, inFlight, most] = [0, 0, 0, 0];
  const { url } = await started(
    rawReceiver((socket, request) => {
      most = Math.max(most, ++inFlight);
      const body = JSON.parse(request.body.toString()) as Event; // what hooks sends
      const responded = status(body, ++requests);
      if (responded === 200) accepted.push({ body, at: performance.now() });
      else rejections++;
      setTimeout(() => {
        inFlight--;
        socket.write(answer(responded));
      }, delayMs(body));
    }),
  );
  return { url, accepted, rejected: () => rejections, mostAtOnce: () => most };
}
