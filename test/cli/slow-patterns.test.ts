import { describe, expect, it } from 'vitest';
import { expectRejected } from './expect-rejected.ts';
import { jsonLines, receiving } from '../end-to-end/receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks } from './run-in-process.ts';

const SLOW = `${'a'.repeat(40)}!`;

describe('a regular expression that is too slow for a message', () => {
  it('leaves the message out of a replay, which continues and fails at the end', async () => {
    const { url, field } = await receiving();
    const events = ['Order', SLOW, 'Other', 'Order', SLOW];
    const lines = events.map((event) => JSON.stringify({ type: 'track', userId: 'u', event }));
    const cwd = temporaryFolder({ 'messages.ndjson': lines.join('\n') });
    const flags = ['--filter', 'event~^(?=[aO])O?(a+)*($|rder)', '--url', url, '-o', 'json'];
    const { code, stdout } = await hooks(['replay', 'messages.ndjson', ...flags], { cwd });
    expect([code, field('event')]).toEqual([1, ['Order', 'Order']]);
    const results = jsonLines(stdout);
    expect(results.at(-1)).toMatchObject({ summary: { read: 4, delivered: 2, invalid: 2, skipped: 1 } });
    expect(results.filter(({ outcome }) => outcome === 'invalid')).toMatchObject([
      { at: 'messages.ndjson:2', reason: expect.stringContaining('takes more than 1s on "aaa') },
      { at: 'messages.ndjson:5', reason: expect.stringContaining('takes more than 100ms on "aaa') },
    ]);
  });

  it.each(['(?=a)a', '(?<!a)b', '(a)\\1', '(a{21})*b'])(
    'is rejected when listen starts: %s',
    async (pattern) => {
      const stderr = await expectRejected(
        ['listen', '--port', '0', '--filter', `event~${pattern}`],
        'Expected a regular expression that takes linear time in `--filter`, got',
      );
      expect(stderr).toContain('hint:  write it without look-around, back references');
    },
  );
});
