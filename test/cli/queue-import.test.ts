import { writeFile } from 'node:fs/promises';
import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import type { Delivery } from '../../src/queue/delivery.ts';
import { openDurableQueue } from '../../src/stores/open.ts';
import { jsonLines } from '../end-to-end/receiving.ts';
import { newDelivery } from '../queue/new-delivery.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks, type HooksResult } from './run-in-process.ts';

const STATES = ['pending', 'sending', 'retrying', 'delivered', 'dead'] as const;
const AT = Date.parse('2026-11-20T21:10:05.123Z');

const WAITING = newDelivery('a-waiting', {
  createdAt: AT,
  dueAt: AT + 5_000,
  orderKeys: ['user:1', 'a\u009bb'],
  trace: '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01',
  state: 'retrying',
  progress: {
    rounds: 2,
    firstAttemptAt: AT,
    attempts: [
      {
        at: AT,
        url: 'https://a.example/',
        round: 1,
        result: 'retryable',
        status: 503,
        error: 'http-5xx',
        ms: 4.5,
      },
    ],
    rejectedBy: ['https://b.example/'],
    notBefore: { 'https://a.example/': AT + 5_000 },
  },
});
const DEAD = newDelivery('b-dead', {
  createdAt: AT,
  dueAt: AT,
  destination: '',
  body: Buffer.from('//4A', 'base64'),
  state: 'dead',
  reason: 'invalid',
  detail: 'expected `event`',
  settledAt: AT + 1_000,
});

describe('hooks queue import', () => {
  let cwd: string;

  beforeEach(async () => {
    cwd = temporaryFolder();
    await withQueue('old.db', (queue) => queue.add([WAITING, DEAD]));
  });

  async function withQueue<T>(
    file: string,
    use: (queue: Awaited<ReturnType<typeof openDurableQueue>>['queue'], all: Delivery[]) => Promise<T>,
  ): Promise<T> {
    const durable = await openDurableQueue({
      store: `sqlite:${join(cwd, file)}`,
      dataDir: cwd,
      clock: systemClock,
    });
    try {
      const { deliveries } = await durable.inspection.list({ states: STATES, limit: 10 });
      return await use(durable.queue, [...deliveries]);
    } finally {
      await durable.close();
    }
  }

  const deliveriesIn = (file: string): Promise<Delivery[]> => withQueue(file, async (_, all) => all);
  const run = (line: string, stdin = ''): Promise<HooksResult> =>
    hooks(['queue', ...line.split(' ')], { cwd, stdin });
  const exported = async (): Promise<string> => (await run('export --deliveries --store old.db')).stdout;

  it('adds the deliveries of export --deliveries with all their fields, each once', async () => {
    await writeFile(join(cwd, 'all.ndjson'), await exported());
    expect(await run('import all.ndjson --store new.db -o json')).toMatchObject({
      code: 0,
      stdout: `{"waiting":1,"dead":1,"known":0,"delivered":0,"seen":0,"to":"${join(cwd, 'new.db')}"}\n`,
    });
    expect(await deliveriesIn('new.db')).toEqual(await deliveriesIn('old.db'));
    const again = await run('import all.ndjson all.ndjson --store new.db');
    expect(again.stdout).toContain('imported 0 waiting and 0 dead into');
    expect(again.stdout).toContain('; 4 were in the queue already');
    expect(await deliveriesIn('new.db')).toHaveLength(2);
  });

  it('escapes control characters in an export of deliveries', async () => {
    expect((await exported()).replaceAll('\n', '')).toMatch(/^[ -~]*$/);
  });

  it('reads the output of queue show -o json from a pipe, and leaves out what is delivered', async () => {
    const { stdout } = await run('show a-waiting --store old.db -o json');
    const delivered = { ...JSON.parse(stdout), id: 'c', state: 'delivered' } as object;
    const { stdout: counts } = await run(
      'import - --store new.db -o json',
      `${stdout}${JSON.stringify(delivered)}`,
    );
    expect(jsonLines(counts)).toMatchObject([{ waiting: 1, dead: 0, known: 0, delivered: 1 }]);
    expect((await deliveriesIn('new.db')).map(({ id }) => id)).toEqual(['a-waiting']);
  });

  it.each([
    ['a message', () => '{"type":"track"}', '<stdin>:1: expected a delivery with one of pending, sending'],
    ['an attempt without a time', (line: string) => line.replace('{"at":', '{"as":'), 'as `at`, got nothing'],
    ['a line that is cut off', (line: string) => line.slice(0, 200), '<stdin>:1: '],
    ['a damaged delivery', (line: string) => line.replace('"body":', '"damaged":'), 'a text as `body`'],
    ['an empty id', (line: string) => line.replace('a-waiting', ''), 'a text as `id`, got ""'],
    [
      'an unknown reason',
      (line: string) => `\n${line.replace('retrying', 'dead')}`,
      '<stdin>:2: expected a delivery with one of rejected, ',
    ],
  ])('rejects %s with its line, and exits with 2', async (_, change, message) => {
    const [line = ''] = (await exported()).split('\n');
    const { code, stderr } = await run('import - --store new.db', change(line));
    expect([code, stderr]).toEqual([2, expect.stringContaining(message)]);
    expect(stderr).toContain('\nhint:  import the lines of hooks queue export --deliveries');
    expect(existsSync(join(cwd, 'new.db'))).toBe(false);
  });

  it('says what it has imported before a line that it rejects', async () => {
    const [line = ''] = (await exported()).split('\n');
    const lines = Array.from({ length: 2_100 }, (_, at) => line.replace('a-waiting', `a-${at}`));
    const { code, stderr } = await run('import - --store new.db', `${lines.join('\n')}\n{"type":"track"}\n`);
    expect([code, stderr]).toEqual([2, expect.stringContaining('<stdin>:2101: ')]);
    expect(stderr).toContain('note: imported 2000 waiting and 0 dead into ');
    expect(stderr).toContain('; importing the whole file again adds each delivery once\n');
    const again = await run('import - --store new.db', lines.join('\n'));
    expect(again.stdout).toContain('imported 100 waiting and 0 dead into ');
    expect(again.stdout).toContain('; 2000 were in the queue already');
  });
});
