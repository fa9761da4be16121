import { renameSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import type { Clock } from '../../../../src/clock.ts';
import { NO_PROGRESS, type Progress } from '../../../../src/queue/delivery.ts';
import type { Queue } from '../../../../src/queue/queue.ts';
import type { SqliteQueue } from '../../../../src/stores/sqlite/queue/sqlite-queue.ts';
import { QueueError } from '../../../../src/errors.ts';
import { FakeClock } from '../../../fake-clock.ts';
import { ask } from '../ask.ts';
import { queueConformance } from '../../../queue/conformance.ts';
import { claim, claimOne, LANE, newDelivery } from '../../../queue/new-delivery.ts';
import { newQueueFile, openQueueFile } from '../../queue-file.ts';

const LEASE_MS = 10_000;
const HOUR_MS = 3_600_000;

const open = async (file: string, clock: Clock): Promise<SqliteQueue> =>
  (await openQueueFile(file, { clock })).queue;

const claimIds = async (queue: Queue): Promise<readonly string[]> =>
  (await claim(queue)).map(({ delivery }) => delivery.id);
const PROGRESS: Progress = { ...NO_PROGRESS, rounds: 1, firstAttemptAt: 1_700_000_000_000 };

let lastFile = '';
queueConformance('SqliteQueue', (clock) => open((lastFile = newQueueFile()), clock), {
  modelRuns: 60,
  openOther: (clock) => open(lastFile, clock),
});

describe('SqliteQueue with few deliveries', () => {
  const DELIVERED = { state: 'delivered', progress: PROGRESS } as const;

  it('finds a delivery that is added in the turn of the claim', async () => {
    const queue = await open(newQueueFile(), new FakeClock());
    const adding = queue.add([newDelivery('a')]);
    expect(await claimIds(queue)).toEqual(['a']);
    await adding;
  });

  it('settles deliveries in the commit of the next write, if the caller does not claim', async () => {
    const [file, clock] = [newQueueFile(), new FakeClock()];
    const queue = await open(file, clock);
    await queue.add([newDelivery('a')]);
    const ended = await claimOne(queue);
    const states: string[] = [];
    const settling = queue.settle(ended, DELIVERED, { claimsNext: false }).then(() => states.push('settled'));
    await new Promise(setImmediate);
    expect(states).toEqual([]);
    await queue.add([newDelivery('b')]);
    expect(states).toEqual(['settled']);
    await settling;
  });

  it('announces a delivery that another process added behind the settled one', async () => {
    const [file, clock] = [newQueueFile(), new FakeClock()];
    const [queue, other] = [await open(file, clock), await open(file, clock)];
    const announced: string[] = [];
    const end = queue.watch(({ destination }) => announced.push(destination));
    await queue.add([newDelivery('a', { orderKeys: ['u'] })]);
    const ended = await claimOne(queue);
    await other.add([newDelivery('b', { orderKeys: ['u'] })]);
    await queue.settle(ended, DELIVERED, { claimsNext: false });
    end();
    expect(announced).toContain(LANE.destination);
    expect(await claimIds(queue)).toEqual(['b']);
  });
});

describe('SqliteQueue opened again', () => {
  it('has its waiting deliveries, in order, with progress and order keys', async () => {
    const [file, clock] = [newQueueFile(), new FakeClock()];
    const first = await open(file, clock);
    await first.add([
      newDelivery('a', { orderKeys: ['u'] }),
      newDelivery('b', { orderKeys: ['u'] }),
      newDelivery('c'),
    ]);
    await first.settle(await claimOne(first, 100), {
      state: 'retrying',
      dueAt: clock.now() + 5,
      progress: PROGRESS,
    });
    await first.close();
    const second = await open(file, clock);
    await clock.advance(5);
    const claims = await claim(second);
    expect(claims.map(({ delivery }) => [delivery.id, delivery.progress.firstAttemptAt])).toEqual([
      ['a', PROGRESS.firstAttemptAt],
    ]);
  });

  it('remembers settled deliveries', async () => {
    const [file, clock] = [newQueueFile(), new FakeClock()];
    const first = await open(file, clock);
    await first.add([newDelivery('a')]);
    await first.settle(await claimOne(first), { state: 'delivered', progress: PROGRESS });
    const second = await open(file, clock);
    await second.add([newDelivery('a')]);
    expect(await claimIds(second)).toEqual([]);
  });
});

describe('two processes on one file', () => {
  it('share the due deliveries, and return nothing twice', async () => {
    const [file, clock] = [newQueueFile(), new FakeClock()];
    const [one, two] = [await open(file, clock), await open(file, clock)];
    await one.add(Array.from({ length: 10 }, (_, index) => newDelivery(`${index}`)));
    const taken = (await Promise.all([one, two, one, two].map((queue) => claim(queue, 3)))).flat();
    expect(new Set(taken.map(({ delivery }) => delivery.id)).size).toBe(10);
  });

  it('leave an expired claim to its living owner, which claims it again', async () => {
    const [file, clock] = [newQueueFile(), new FakeClock()];
    const [one, two] = [await open(file, clock), await open(file, clock)];
    await one.add([newDelivery('a')]);
    await claimOne(one);
    await clock.advance(10 * LEASE_MS);
    expect(await claimIds(two)).toEqual([]);
    expect(await claimIds(one)).toEqual(['a']);
  });

  it('take over claims of a silent process, with their progress; its tokens become invalid', async () => {
    const file = newQueueFile();
    const [asleep, clock] = [new FakeClock(), new FakeClock()];
    const [one, two] = [await open(file, asleep), await open(file, clock)];
    await one.add([newDelivery('a'), newDelivery('b')]);
    const [a, b] = await claim(one);
    if (a === undefined || b === undefined) throw new Error('nothing to claim');
    await one.renew(a, PROGRESS, LEASE_MS);
    expect(await claimIds(two)).toEqual([]);
    await clock.advance(12_000);
    expect(await claimIds(two)).toEqual([]);
    await clock.advance(8_000);
    const taken = await claim(two);
    expect(taken.map(({ delivery }) => [delivery.id, delivery.progress.rounds])).toEqual([
      ['a', 1],
      ['b', 1],
    ]);
    expect(await one.settle(a, { state: 'delivered', progress: PROGRESS })).toBe(false);
    expect(await one.renew(b, PROGRESS, LEASE_MS)).toBe(false);
    await one.add([newDelivery('c')]);
    expect(await claimIds(one)).toEqual(['c']);
    await clock.advance(4_000);
    expect(await claimIds(two)).toEqual([]);
  });

  it('do not depend on the wall clock of each other', async () => {
    const file = newQueueFile();
    const [clock, ahead] = [new FakeClock(), new FakeClock(Date.UTC(2026, 0, 1) + 5 * HOUR_MS)];
    const [one, two] = [await open(file, clock), await open(file, ahead)];
    await one.add([newDelivery('a')]);
    const a = await claimOne(one);
    for (let second = 0; second < 60; second++) {
      await Promise.all([clock.advance(1_000), ahead.advance(1_000)]);
      expect(await claimIds(two)).toEqual([]);
    }
    expect(await one.settle(a, { state: 'delivered', progress: PROGRESS })).toBe(true);
  });
});

describe('a clock that is set', () => {
  it('forward does not release claims, of a living owner or its own', async () => {
    const file = newQueueFile();
    const [slow, clock] = [new FakeClock(), new FakeClock()];
    const [one, two] = [await open(file, slow), await open(file, clock)];
    await one.add([newDelivery('a')]);
    const a = await claimOne(one);
    expect(await claimIds(two)).toEqual([]);
    clock.setForward(5 * HOUR_MS);
    await clock.advance(4_000);
    expect(await claimIds(two)).toEqual([]);
    expect(await one.settle(a, { state: 'delivered', progress: PROGRESS })).toBe(true);
  });

  it('forward while a claim waits for the disk does not end earlier leases', async () => {
    const [file, clock] = [newQueueFile(), new FakeClock()];
    const queue = await open(file, clock);
    await queue.add([newDelivery('a'), newDelivery('b')]);
    const { claims } = await queue.claim({ ...LANE, limit: 1, leaseMs: LEASE_MS });
    const [next] = [claimIds(queue), clock.setForward(5 * HOUR_MS)];
    expect(await next).toEqual(['b']);
    for (const a of claims) {
      expect(await queue.settle(a, { state: 'delivered', progress: PROGRESS })).toBe(true);
    }
  });

  it('does not mark another process dead that slept at the same time', async () => {
    const file = newQueueFile();
    const [clock, late] = [new FakeClock(), new FakeClock()];
    const [one, two] = [await open(file, late), await open(file, clock)];
    await one.add([newDelivery('a')]);
    await claimOne(one);
    for (let beat = 0; beat < 5; beat++) {
      for (const each of [late, clock]) {
        await each.advance(2_000);
        expect(await claimIds(two)).toEqual([]);
      }
    }
    await clock.suspend(HOUR_MS);
    expect(await claimIds(two)).toEqual([]);
    await late.suspend(HOUR_MS);
    await clock.advance(14_000);
    expect(await claimIds(two)).toEqual([]);
  });

  it.each([
    ['is closed', true],
    ['is killed', false],
  ])('back while a process runs does not delay deliveries of the next process %s', async (_, closes) => {
    const file = newQueueFile();
    const [clock, setBack] = [new FakeClock(), new FakeClock()];
    await clock.advance(5 * HOUR_MS);
    const one = await open(file, clock);
    await one.add([newDelivery('a')]);
    await one.settle(await claimOne(one), {
      state: 'retrying',
      dueAt: clock.now() + 10_000,
      progress: PROGRESS,
    });
    await clock.advance(2_000);
    if (closes) await one.close();

    const two = await open(file, setBack);
    await two.add([newDelivery('c', { createdAt: setBack.now(), dueAt: setBack.now() })]);
    expect(await claimIds(two)).toEqual(['c']);
    await setBack.advance(7_999);
    expect(await claimIds(two)).toEqual([]);
    await setBack.advance(1);
    expect(await claimIds(two)).toEqual(['a']);
  });

  it('back gives a starting process the time of the living ones', async () => {
    const file = newQueueFile();
    const [clock, setBack] = [new FakeClock(), new FakeClock()];
    await clock.advance(5 * HOUR_MS);
    const [one, two] = [await open(file, clock), await open(file, setBack)];
    await one.add([newDelivery('a')]);
    await claimOne(one);
    await claim(two);
    expect(setBack.now()).toBe(clock.now());
    expect(setBack.skipped(0)).toBe(0);
  });

  it('back is used again when nothing waits', async () => {
    const file = newQueueFile();
    const [clock, setBack] = [new FakeClock(Date.UTC(2099, 0, 1)), new FakeClock()];
    const one = await open(file, clock);
    await one.add([newDelivery('a')]);
    await one.settle(await claimOne(one), { state: 'delivered', progress: PROGRESS });
    await one.close();
    const start = setBack.now();
    const two = await open(file, setBack);
    await two.add([newDelivery('b', { createdAt: start, dueAt: start })]);
    expect(await claimIds(two)).toEqual(['b']);
    expect(setBack.now()).toBe(start);
  });
});

describe('retention', () => {
  it('removes settled deliveries after their time, and nothing else', async () => {
    const [file, clock] = [newQueueFile(), new FakeClock()];
    // Not for hours, because the owner writes a beat every two seconds.
    const soonMs = 5 * 60_000;
    const retention = { deliveredMs: soonMs, deadMs: 3 * soonMs };
    const { queue } = await openQueueFile(file, { clock, retention });
    await queue.add(['delivered', 'dead', 'waiting'].map((id) => newDelivery(id)));
    const [delivered, dead, waiting] = await claim(queue);
    if (delivered === undefined || dead === undefined || waiting === undefined) throw new Error('too few');
    await queue.settle(delivered, { state: 'delivered', progress: PROGRESS });
    await queue.settle(dead, { state: 'dead', reason: 'rejected', progress: PROGRESS });
    await queue.settle(waiting, { state: 'retrying', dueAt: clock.now() + 9 * soonMs, progress: PROGRESS });
    const left = async (): Promise<string> => (await ask(file, 'SELECT id FROM queue')).join(' ');
    await clock.advance(soonMs);
    expect(await left()).toBe('delivered dead waiting');
    await clock.advance(2 * 60_000);
    expect(await left()).toBe('dead waiting');
    await clock.advance(2 * soonMs);
    expect(await left()).toBe('waiting');
  });
});

describe('the file', () => {
  it('is reopened if it was replaced, even by a process without deliveries', async () => {
    const [file, clock] = [newQueueFile(), new FakeClock()];
    const idle = await open(file, clock);
    expect(await claimIds(idle)).toEqual([]);
    for (const end of ['', '-wal', '-shm']) renameSync(file + end, `${file}.old${end}`);
    const other = await open(file, clock);
    await other.add([newDelivery('a')]);
    await clock.advance(2_000);
    expect(await claimIds(idle)).toEqual(['a']);
  });

  it('closes even if it cannot be written', async () => {
    let isFull = false;
    const { queue } = await openQueueFile(undefined, {
      clock: new FakeClock(),
      change: (store) => ({
        write: (work, options) =>
          isFull ? Promise.reject(new QueueError('full', { file: store.file })) : store.write(work, options),
      }),
    });
    await queue.add([newDelivery('a')]);
    await claimOne(queue);
    isFull = true;
    await queue.close();
  });

  it('has a view for people', async () => {
    const [file, clock] = [newQueueFile(), new FakeClock()];
    const queue = await open(file, clock);
    await queue.add([newDelivery('a', { createdAt: Date.UTC(2026, 0, 1, 12), orderKeys: ['u'] })]);
    await queue.add([newDelivery('b', { orderKeys: ['u'] })]);
    const attempt = { at: 1, url: 'https://a.example/hook', round: 1, result: 'rejected', ms: 3 } as const;
    await queue.settle(await claimOne(queue), {
      state: 'dead',
      reason: 'rejected',
      progress: { ...PROGRESS, attempts: [attempt] },
    });
    expect(
      await ask(file, 'SELECT id, source, destination, state, reason, created, body FROM queue'),
    ).toEqual([
      'a|web|Webhooks|dead|rejected|2026-01-01T12:00:00.000Z|{"version":1}',
      'b|web|Webhooks|pending||1970-01-01T00:00:00.000Z|{"version":1}',
    ]);
    expect(await ask(file, "SELECT attempts ->> '$[0].url' FROM queue WHERE state = 'dead'")).toEqual([
      attempt.url,
    ]);
  });
});
