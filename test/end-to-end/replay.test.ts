import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { argv } from './argv.ts';
import { toCapture } from '../../src/capture/to-capture.ts';
import { hooks } from '../cli/run-in-process.ts';
import { jsonLines, receiving, SECRET, sorted, summaryOf, track, tracks } from './receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';

function capture(body: string): string {
  return JSON.stringify(toCapture({ method: 'POST', url: '/', headers: [], body: Buffer.from(body) }));
}

const TWO = [track(0), track(1)] as const;
const BATCH = `{"batch":[${TWO.join(',')}],"sentAt":"2026-11-20T21:10:05Z"}`;

const FORMATS: Readonly<Record<string, string | Uint8Array>> = {
  'an array': `[\n${TWO.join(',\n')}\n]`,
  'a batch': BATCH,
  NDJSON: `${TWO.join('\n')}\n`,
  'NDJSON with carriage returns, blank lines and a BOM': `\ufeff${TWO.join('\r\n\r\n')}`,
  'messages one after the other': TWO.map((text) => JSON.stringify(JSON.parse(text), null, 2)).join('\n'),
  'captures, one a line': TWO.map(capture).join('\n'),
  'a capture of a batch': capture(BATCH),
  gzip: gzipSync(TWO.join('\n')),
};

describe.concurrent('hooks replay reads', () => {
  it.each(Object.entries(FORMATS))('%s, from a file and from standard input', async (_name, content) => {
    const to = await receiving();
    const cwd = temporaryFolder({ input: content });
    const [file, stdin] = await Promise.all([
      hooks(argv`replay input --url ${to.url} -o json`, { cwd }),
      hooks(argv`replay - --url ${to.url} -o json`, { stdin: content }),
    ]);
    for (const { code, stdout } of [file, stdin]) {
      expect(code).toBe(0);
      expect(summaryOf(stdout)).toMatchObject({ read: 2, delivered: 2, skipped: 0 });
    }
    expect(sorted(to.field('messageId'))).toEqual(['m0', 'm0', 'm1', 'm1']);
  });

  it('the files of a pattern in natural order, then further files', async () => {
    const to = await receiving();
    const cwd = temporaryFolder({ 'p10.json': track(10), 'p9.json': track(9), 'a.ndjson': track('a') });
    expect(await hooks(argv`replay p*.json a.ndjson --url ${to.url}`, { cwd })).toMatchObject({ code: 0 });
    expect(to.field('messageId')).toEqual(['m9', 'm10', 'ma']);
  });
});

/** Replays these lines, or this many messages of one user, to a receiver that verifies signatures. */
async function replayed(input: number | readonly string[], flags: readonly string[] = [], respond = '200') {
  const to = await receiving({ secret: SECRET, respond });
  const lines = typeof input === 'number' ? tracks(input) : input.join('\n');
  const cwd = temporaryFolder({ 'day.ndjson': lines });
  const args = argv`replay day.ndjson --url ${to.url} --secret ${SECRET} -o json ${flags}`;
  const result = await hooks(args, { cwd });
  return { ...result, to, cwd, summary: summaryOf(result.stdout, { quiet: flags.includes('-q') }) };
}

const IDS = (from: number, to: number): string[] =>
  Array.from({ length: to - from }, (_, index) => `m${from + index}`);

describe.concurrent('hooks replay sends', () => {
  it('the messages that --filter, --offset and --limit leave, in this order', async () => {
    const { to, summary, code } = await replayed(10, argv`--filter type=track --offset 2 --limit 3`);
    expect(code).toBe(0);
    expect(to.field('messageId')).toEqual(IDS(2, 5));
    // Messages after the limit are not read.
    expect(summary).toMatchObject({ read: 3, delivered: 3, skipped: 2 });
  });

  it('the messages for which every condition of the filter holds', async () => {
    const lines = [
      track(1, { event: 'A' }),
      track(2, { event: 'B' }),
      track(3, { event: 'A', userId: 'u2' }),
    ];
    const { to, summary } = await replayed(lines, ['--filter', 'event=A,userId!=u2']);
    expect(summary).toMatchObject({ read: 1, skipped: 2 });
    expect(to.field('messageId')).toEqual(['m1']);
  });

  it('nothing, and exits with 1, if the filter leaves no message', async () => {
    const { code, summary, stderr, to } = await replayed(3, ['--filter', 'type=page']);
    expect([code, to.requests.length]).toEqual([1, 0]);
    expect(stderr).toBe('note: nothing is left of 3 messages after --filter\n');
    expect(summary).toMatchObject({ read: 0, delivered: 0, skipped: 3 });
  });
});

describe.concurrent('hooks replay keeps', () => {
  it('the rate', async () => {
    const { summary } = await replayed(10, ['--rate', '20/s']);
    // 450 ms in all. A late timer is compensated by up to 100 ms.
    expect(summary).toHaveProperty(
      'ms',
      expect.toSatisfy((ms: number) => ms >= 350),
    );
  });

  it('the recorded gaps with --speed', async () => {
    const lines = [track(0), track(1, { timestamp: '2026-11-20T21:10:10.123Z' })];
    const { summary } = await replayed(lines, ['--speed', '10x']);
    // 5 s at ten times the speed.
    expect(summary).toHaveProperty(
      'ms',
      expect.toSatisfy((ms: number) => ms >= 400),
    );
  });

  it('timestamps and ids, unless --timestamps or --message-ids say otherwise', async () => {
    const to = await receiving();
    const lines = [track(0), track(1, { timestamp: '2026-11-20T21:10:06.123Z' })];
    const cwd = temporaryFolder({ 'two.ndjson': lines.join('\n') });
    const before = Date.now();
    for (const how of ['keep', 'shift', 'now']) {
      const args = ['replay', 'two.ndjson', '--url', to.url, '--timestamps', how];
      const ids = how === 'now' ? ['--message-ids', 'new'] : [];
      expect(await hooks([...args, ...ids], { cwd })).toMatchObject({ code: 0 });
    }
    const times = to.field('timestamp').map((time) => Date.parse(String(time)));
    expect(to.field('timestamp').slice(0, 2)).toEqual([
      '2026-11-20T21:10:05.123Z',
      '2026-11-20T21:10:06.123Z',
    ]);
    expect(times.slice(2).every((time) => time >= before)).toBe(true);
    expect((times[3] ?? 0) - (times[2] ?? 0)).toBe(1_000);
    expect(to.field('messageId').slice(0, 4)).toEqual(['m0', 'm1', 'm0', 'm1']);
    expect(to.field('messageId').slice(4)).not.toContain('m0');
  });

  it('the bytes of the file with --exact, and notes that JSON.stringify would change them', async () => {
    const to = await receiving({ secret: SECRET });
    const body = '{ "type" : "anything",  "n": 1.0 }';
    const cwd = temporaryFolder({ 'odd.json': `${body}\n` });
    const args = ['replay', 'odd.json', '--url', to.url, '--secret', SECRET, '--exact'];
    const { code, stderr } = await hooks(args, { cwd });
    expect(code).toBe(0);
    expect(to.bodies()).toEqual([`${body}\n`]);
    expect(to.requests).toMatchObject([{ verdict: 'valid' }]);
    expect(stderr).toMatch(/^note: JSON\.stringify would write the body at odd\.json:1 differently/);
  });

  it.each([[[]], [['--order', 'user']], [['--queue']]])(
    'a webhook of any shape with --exact %s',
    async (flags) => {
      const to = await receiving();
      const odd = [
        { type: 'order', userId: ['x'], anonymousId: { a: 1 }, messageId: true },
        { type: 'order', userId: 5, integrations: null, event: 7, messageId: 5 },
        { type: 3, userId: '', name: null, integrations: [], properties: 'none' },
        { userId: null, integrations: { All: null }, messageId: { id: 1 } },
      ];
      const cwd = temporaryFolder({
        'odd.ndjson': [TWO[0], ...odd.map((each) => JSON.stringify(each)), TWO[1]].join('\n'),
        '.hooksrc.yaml': `webhooks: [${to.url}]\n`,
      });
      const args = ['replay', 'odd.ndjson', '--exact', '-o', 'json', '--report', 'r.xml', ...flags];
      const { code, stdout, stderr } = await hooks(args, { cwd, env: { HOOKS_DATA_DIR: join(cwd, 'data') } });
      expect(code, stderr).toBe(0);
      const taken = flags.includes('--queue') ? { queued: 6 } : { delivered: 6 };
      expect(summaryOf(stdout)).toMatchObject({ read: 6, ...taken });
      for (const { messageId } of jsonLines(stdout).slice(0, 6)) expect(messageId).toBeTypeOf('string');
    },
  );
});

describe.concurrent('hooks replay with a failed delivery', () => {
  it('keeps the message in the file of --failed, which can be replayed', async () => {
    const { code, to, cwd, summary } = await replayed(4, ['--failed', 'failed.ndjson'], '200,404x2,200');
    expect(code).toBe(1);
    expect(summary).toMatchObject({ read: 4, delivered: 2, failed: 2 });
    expect(await readFile(join(cwd, 'failed.ndjson'), 'utf8')).toBe(`${track(1)}\n${track(2)}\n`);
    const again = await hooks(argv`replay failed.ndjson --url ${to.url} -o json`, { cwd });
    expect(summaryOf(again.stdout)).toMatchObject({ read: 2, delivered: 2 });
    expect(to.field('messageId')).toEqual([...IDS(0, 4), 'm1', 'm2']);
  });

  it('stops with --fail-fast, and reports unsent messages', async () => {
    const { code, to, cwd, summary } = await replayed(
      50,
      ['--fail-fast', '--failed', 'failed.ndjson'],
      '200x2,404,200',
    );
    expect(code).toBe(1);
    expect(summary.failed).toBe(1);
    // Attempts in flight at the failure still arrive.
    expect(to.requests).toHaveLength(summary.delivered + summary.failed);
    expect(summary.unsent).toBeGreaterThan(30);
    const kept = (await readFile(join(cwd, 'failed.ndjson'), 'utf8')).trimEnd().split('\n');
    expect(kept).toHaveLength(summary.failed + summary.unsent);
  });

  it('sends no further message of a user after the first failure, with --fail-fast', async () => {
    const { code, to, summary } = await replayed(40, ['--fail-fast'], '400');
    expect([code, to.field('messageId')]).toEqual([1, ['m0']]);
    expect(summary).toMatchObject({ read: 40, failed: 1, unsent: 39 });
  });

  it('starts no further attempt after a failure, with --fail-fast', async () => {
    const lines = Array.from({ length: 100 }, (_, index) => track(index, { userId: `u${index}` }));
    const { code, to, summary } = await replayed(lines, argv`--fail-fast --concurrency 4`, '400');
    expect([code, summary.delivered]).toEqual([1, 0]);
    expect(to.requests.length).toBeLessThanOrEqual(4);
  });

  it('counts a message that waits for --rate as unsent, with --fail-fast', async () => {
    const { code, to, summary } = await replayed(3, ['--fail-fast', '--rate', '1/m'], '400');
    expect([code, to.requests.length]).toEqual([1, 1]);
    expect(summary).toMatchObject({ read: 2, failed: 1, unsent: 1 });
  });

  it('removes messages that a resumed replay sends from the file of --failed', async () => {
    const to = await receiving({ respond: '404,200x20,404,200' });
    const cwd = temporaryFolder({ 'day.ndjson': tracks(50) });
    const args = argv`replay day.ndjson --url ${to.url} --failed failed.ndjson -o json --resume`;
    const options = { cwd, env: { HOOKS_DATA_DIR: join(cwd, 'data') } };
    const kept = async (): Promise<number> =>
      (await readFile(join(cwd, 'failed.ndjson'), 'utf8')).split('\n').length - 1;
    const first = summaryOf((await hooks([...args, '--fail-fast'], options)).stdout);
    expect(first.unsent).toBeGreaterThan(0);
    expect(await kept()).toBe(first.failed + first.unsent);
    const second = summaryOf((await hooks(args, options)).stdout);
    expect([first.failed, second.failed]).toEqual([1, 2]);
    expect(await kept()).toBe(2);
  });

  it('reports each message in JUnit XML and in JSON', async () => {
    const to = await receiving({ respond: '200,404' });
    const lines = [
      track(0),
      track(1, { event: 'a<b>"&\u0007' }),
      '{"type":"track"',
      track(3, { integrations: { All: false } }),
    ];
    const cwd = temporaryFolder({ 'mixed.ndjson': lines.join('\n') });
    for (const report of ['r.xml', 'r.json']) {
      const result = await hooks(argv`replay mixed.ndjson --url ${to.url} --report ${report}`, { cwd });
      expect(result.code).toBe(1);
    }
    const xml = await readFile(join(cwd, 'r.xml'), 'utf8');
    expect(xml).toContain('<testsuites name="hooks" tests="4" failures="1" errors="1" skipped="1"');
    // The room that is reserved for the totals follows the tag.
    expect(xml).not.toContain(' >');
    expect(xml).toContain('name="track &quot;a&lt;b&gt;&quot;&amp;\\u0007&quot; (line 2)"');
    expect(xml).toMatch(
      /<failure message="Delivery rejected: 404 Not Found from http:[^"]*" type="http-4xx">/,
    );
    expect(xml).toMatch(
      /<error message="The text ends inside the object \(mixed\.ndjson:3:16\)" type="invalid">/,
    );
    const json = JSON.parse(await readFile(join(cwd, 'r.json'), 'utf8')) as Record<string, unknown>;
    expect(json['results']).toHaveLength(4);
    expect(json['summary']).toMatchObject({ read: 4, failed: 2, invalid: 1, filtered: 1 });
  });

  it('prints with -q only failures and the summary', async () => {
    const good = await replayed(2, ['-q']);
    expect([good.code, jsonLines(good.stdout).length]).toEqual([0, 1]);
    const to = await receiving({ respond: '200,404' });
    const cwd = temporaryFolder({ 'two.ndjson': TWO.join('\n') });
    const { stdout } = await hooks(argv`replay two.ndjson --url ${to.url} -q`, { cwd });
    expect(stdout).toMatch(/^✗ failed {4}track .* 404 .* two\.ndjson:2 http.*\n {2}Delivery rejected/);
    expect(stdout).toContain('\nread       2\ndelivered  1\nfailed     1\n');
  });
});

it('hooks replay sends the last messages immediately, even if the client waits for a full batch', async () => {
  const to = await receiving();
  const client = JSON.stringify({ client: { flushAfter: '60s' } });
  const cwd = temporaryFolder({ 'day.ndjson': tracks(30), '.hooksrc.json': client });
  const { code } = await hooks(argv`replay day.ndjson --url ${to.url} --limit 25`, { cwd });
  expect([code, to.requests.length]).toEqual([0, 25]);
});
