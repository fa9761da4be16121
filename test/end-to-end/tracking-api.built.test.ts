import { describe, expect, it, afterAll } from 'vitest';
import { BatchReceiver } from '../client/batch-receiver.ts';
import { hooks } from '../cli/run-in-process.ts';
import { basic } from '../service/serving.ts';
import { hooks as runBuilt } from './hooks.ts';
import { jsonLines, summaryOf, track, tracks } from './receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const WRITE_KEY = 'CANARY-write-key';

const open: BatchReceiver[] = [];
afterAll(() => Promise.all(open.map((each) => each.close())));

async function trackingApi(): Promise<BatchReceiver> {
  const receiver = await BatchReceiver.start();
  open.push(receiver);
  return receiver;
}

describe.concurrent('a tracking API', () => {
  it('gets a message as a batch of one, with the write key as the user of basic authentication', async () => {
    const api = await trackingApi();
    const args = ['send', '--json', track(1), '--endpoint', api.url, '--write-key', WRITE_KEY];
    const result = await runBuilt([...args, '-v'], { env: { DEBUG: 'analytics' } });
    expect(result.code).toBe(0);
    expect(result.stdout).toMatch(
      /^✓ delivered track {4}Signup +200 +\S+ http:\/\/127\.0\.0\.1:\d+\/v1\/batch\n/,
    );
    expect(api.received).toMatchObject([
      {
        path: '/v1/batch',
        headers: basic(WRITE_KEY),
        batch: [{ type: 'track', messageId: 'm1', context: { library: { name: 'hooks-cli' } } }],
      },
    ]);
    expect(result.stdout + result.stderr).not.toContain(WRITE_KEY);
  });

  it('gets the messages of a replay in batches, and its response has a result for each', async () => {
    const api = await trackingApi();
    api.answers.push({
      status: 200,
      body: '{"rejected":[{"index":1,"code":"bad","message":"no such event"}]}',
    });
    const cwd = temporaryFolder({ 'day.ndjson': tracks(45) });
    const args = ['replay', 'day.ndjson', '-o', 'json', '--failed', 'failed.ndjson'];
    const { code, stdout } = await hooks(args, {
      cwd,
      env: { HOOKS_ENDPOINT: api.url, HOOKS_WRITE_KEY: WRITE_KEY },
    });
    expect(code).toBe(1);
    expect(summaryOf(stdout)).toMatchObject({ read: 45, delivered: 44, failed: 1 });
    expect(api.received.flatMap(({ batch }) => batch.map(({ messageId }) => messageId))).toEqual(
      Array.from({ length: 45 }, (_, index) => `m${index}`),
    );
    expect(api.received.every(({ batch }) => batch.length <= 20)).toBe(true);
    expect(jsonLines(stdout).find(({ outcome }) => outcome === 'failed')).toMatchObject({
      messageId: 'm1',
      error: 'bad',
      reason: 'no such event',
      origin: 'day.ndjson:2',
    });
  });

  it('is retried while it fails, and its rejection is printed without the write key', async () => {
    const api = await trackingApi();
    api.answers.push({ status: 503 }, { status: 401, body: `unknown key ${WRITE_KEY}` });
    const args = ['send', '--json', track(1), '--endpoint', `${api.url}/in`, '--write-key', WRITE_KEY];
    const result = await hooks(args);
    expect(result.code).toBe(1);
    expect(result.stderr).toMatch(
      /^retry: 503 from http:\S+\/in; try 2 in \S+ \(batch of 1 message\)\nhint: {2}check the write key/,
    );
    expect(result.stdout).toContain('\n  Delivery failed after 2 attempts: 401 from ');
    expect(result.stdout).toContain('unknown key ***');
    expect(result.stdout + result.stderr).not.toContain(WRITE_KEY);
    expect(api.received.map(({ path }) => path)).toEqual(['/in', '/in']);
  });
});
