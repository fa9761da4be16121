import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { expectRejected } from './expect-rejected.ts';
import { jsonLines } from '../end-to-end/receiving.ts';
import { nextUrl } from '../end-to-end/running-command.ts';
import { startHooks } from './run-in-process.ts';

const BATCH = {
  batch: [
    { type: 'identify', userId: 'u1', messageId: 'm1', timestamp: '2026-11-20T21:10:05.123Z' },
    {
      type: 'track',
      event: 'Signup',
      anonymousId: 'a1',
      messageId: 'm2',
      context: { library: { name: 'own', version: '2' } },
    },
  ],
  context: { library: { name: '@segment/analytics-node', version: '3.1.0' } },
};

async function listening(args: readonly string[]) {
  const running = startHooks(['listen', '--port', '0', ...args]);
  const { origin } = new URL(await nextUrl(running));
  return {
    post: (path: string, body: unknown, headers: Record<string, string> = {}) => {
      const bytes = body instanceof Uint8Array ? body : JSON.stringify(body);
      return fetch(origin + path, { method: 'POST', body: bytes, headers });
    },
    lines: async () => (await running.stop()).stdout.split('\n').slice(1).join('\n'),
  };
}

describe('hooks listen', () => {
  it('prints the messages and the library of a call as JSON', async () => {
    const { post, lines } = await listening(['-o', 'json']);
    await post('/v1/batch', gzipSync(JSON.stringify(BATCH)), { 'content-encoding': 'gzip' });
    await post('/v1/batch', '{', {});
    const [batch, broken] = jsonLines(await lines());
    expect(batch).toMatchObject({
      type: null,
      verdict: 'unchecked',
      library: '@segment/analytics-node 3.1.0',
      messages: [
        { index: 0, type: 'identify', userId: 'u1', messageId: 'm1', timestamp: '2026-11-20T21:10:05.123Z' },
        { index: 1, type: 'track', event: 'Signup', anonymousId: 'a1', messageId: 'm2' },
      ],
    });
    expect(broken).toMatchObject({
      messages: [],
      status: 400,
      problem: expect.stringContaining('Expected an object') as string,
    });
  });

  it('prints a line for each message of a call, and the problem of a rejected call', async () => {
    const { post, lines } = await listening([]);
    await post('/v1/batch', { batch: [...BATCH.batch, { type: 'track', userId: 'u1' }] });
    await post('/v1/track', { event: 'A\u001b[2J', userId: 'u1', writeKey: 's3cret-key' });
    const text = await lines();
    expect(text).toMatch(/POST \/v1\/batch +3 messages from own 2 +unchecked +200/);
    expect(text).toContain('\n    1. identify by u1\n    2. track "Signup" by a1\n    3. track by u1\n');
    expect(text).toContain('hooks serve rejects it: Expected `event`');
    expect(text).toMatch(/POST \/v1\/track +track "A\\u001b\[2J" by u1 +unchecked/);
    expect(text).not.toContain('s3cret-key');
  });

  it('shows only requests with a message that matches --filter', async () => {
    const { post, lines } = await listening(['-o', 'json', '--filter', 'type=track,anonymousId?']);
    await post('/v1/batch', BATCH);
    await post('/v1/track', { event: 'A', userId: 'u1' });
    await post('/hook', { type: 'track', event: 'B', anonymousId: 'a2' });
    await post('/hook', [1]);
    expect(jsonLines(await lines()).map(({ path }) => path)).toEqual(['/v1/batch', '/hook']);
  });

  it('applies every --filter to one message, and prints at the end how many requests are hidden', async () => {
    const filters = ['--filter', 'type=track', '--filter', 'userId=u1'];
    const running = startHooks(['listen', '--port', '0', '--count', '2', ...filters]);
    const url = await nextUrl(running);
    const batch = [
      { type: 'identify', userId: 'u1' },
      { type: 'track', event: 'A', userId: 'u2' },
    ];
    for (const each of [batch, [...batch, { type: 'track', event: 'B', userId: 'u1' }]]) {
      await fetch(`${url}/v1/batch`, { method: 'POST', body: JSON.stringify({ batch: each }) });
    }
    const { stdout, stderr } = await running.exited;
    expect(stdout.match(/POST \/v1/g)).toHaveLength(1);
    expect(stderr).toMatch(/Stopped after 2 requests.*; 1 hidden by the filter/);
  });

  it('exits with 2 for a filter with a wrong operator, and lists the operators', async () => {
    const stderr = await expectRejected(
      ['listen', '--port', '0', '--filter', 'type==track'],
      'Expected an operator in `--filter`, got type==track',
    );
    expect(stderr).toContain('Operators: = != > < >= <= ~REGEX ? (present) !? (absent)');
  });
});
