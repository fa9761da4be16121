import { randomBytes } from 'node:crypto';
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { argv } from '../../../../end-to-end/argv.ts';
import { jsonLines, SECRET, track, tracks } from '../../../../end-to-end/receiving.ts';
import { sign } from '../../../../sign.ts';
import { temporaryFolder } from '../../../../temporary-folder.ts';
import { expectRejected } from '../../../expect-rejected.ts';
import { hooks } from '../../../run-in-process.ts';
import { numberOf, receiver, type ReceivedMessage, type Reply } from './compared-receivers.ts';

const cwd = temporaryFolder({ 'day.ndjson': tracks(40) });

describe('hooks replay --compare', () => {
  it('sends each message to both, in turn, with one key and signature, and the first twice to the old one', async () => {
    const order: string[] = [];
    const old = await receiver((one) => ({ body: String(order.push(`old ${one.message.messageId}`) * 0) }));
    const next = await receiver((one) => ({ body: String(order.push(`new ${one.message.messageId}`) * 0) }));
    const args = argv`replay day.ndjson --url ${next.url} --compare ${old.url} --secret ${SECRET} --limit 22`;
    const { code, stdout } = await hooks(args, { cwd });
    expect(stdout).toContain('22 messages compared, no differences');
    expect(code).toBe(0);
    expect(order.slice(0, 6)).toEqual(['old m0', 'new m0', 'old m0', 'new m1', 'old m1', 'old m1']);
    expect(order.slice(60)).toEqual(['old m20', 'new m20', 'new m21', 'old m21']);
    for (const { headers, text, message } of [...old.received, ...next.received]) {
      expect(headers['idempotency-key']).toBe(message.messageId);
      expect(headers['x-signature']).toBe(sign(text, SECRET));
    }
  });

  it('reports a difference by kind, with an example, the first message and what was ignored', async () => {
    const old = await receiver((one) => ({ body: { id: Math.random(), total: numberOf(one) } }));
    const next = await receiver((one) => ({ body: { id: Math.random(), total: String(numberOf(one)) } }));
    const args = argv`replay day.ndjson --url ${next.url} --compare ${old.url}`;
    const { code, stdout } = await hooks(args, { cwd });
    expect(code).toBe(1);
    expect(stdout.replace(/ in \S+\n$/, '')).toBe(
      [
        '✗ body $.total: number → text in 40 of 40 messages, first day.ndjson:1 (track "Signup")',
        '  old  0',
        '  new  "0"',
        '',
        'ignored as noise: $.id',
        '40 messages compared, 1 kind of difference,',
      ].join('\n'),
    );
    const ignored = await hooks([...args, '--ignore', '$.total', '-q'], { cwd });
    expect(ignored).toMatchObject({ code: 0, stdout: '' });
  });

  it('takes links of each receiver to itself as equal, also in a digest of the body', async () => {
    const [old, next] = [await receiver(linked), await receiver(linked)];
    const args = argv`replay day.ndjson --url ${next.url} --compare ${old.url}`;
    expect(await hooks(args, { cwd })).toMatchObject({
      code: 0,
      stdout: expect.stringMatching(/^\n40 messages compared, no differences/),
    });
    const moved = await receiver((one) => ({
      ...linked(one),
      body: { url: `https://${one.headers.host}/` },
    }));
    const { stdout } = await hooks(argv`replay day.ndjson --url ${moved.url} --compare ${old.url}`, { cwd });
    expect(stdout).toContain('  old  "{origin}/items/0"\n  new  "https://{host}/"\n');
  });

  it('writes reports and annotations', async () => {
    const old = await receiver(() => ({ body: 'thanks' }));
    const next = await receiver((one) =>
      numberOf(one) === 3 ? { status: 503, body: 'busy' } : { body: 'thanks' },
    );
    const args = argv`replay day.ndjson --url ${next.url} --compare ${old.url} --report r.xml`;
    const { code, stderr } = await hooks(args, { cwd, env: { GITHUB_ACTIONS: 'true' } });
    expect(code).toBe(1);
    expect(stderr).toMatch(/^::error file=day\.ndjson,line=4,title=.*status.*200 → 503/m);
    const xml = readFileSync(join(cwd, 'r.xml'), 'utf8');
    expect(xml).toMatch(/tests="5" failures="1"/);
    expect(xml).toContain('new: 503 busy');
    const json = [...args.slice(0, -1), 'r.json', '-o', 'json'];
    const lines = jsonLines((await hooks(json, { cwd })).stdout);
    expect(lines).toMatchObject([
      { difference: 'status', from: '200', to: '503', messages: 1, of: 40, first: 'day.ndjson:4' },
      { summary: { compared: 40, differences: 1, invalid: 0, filtered: 0 } },
    ]);
    const report = JSON.parse(readFileSync(join(cwd, 'r.json'), 'utf8')) as { results: object[] };
    expect(report.results).toHaveLength(5);
  });

  it('masks secrets that a receiver repeats, and escapes what it writes', async () => {
    const old = await receiver(() => ({ body: { a: 'fine' } }));
    const next = await receiver(() => ({ body: { a: `\u001b[2J ${SECRET} t0ken-of-the-url` } }));
    const to = next.url.replace('//', '//me:t0ken-of-the-url@');
    const args = argv`replay day.ndjson --url ${to} --compare ${old.url} --secret ${SECRET}`;
    const { code, stdout, stderr } = await hooks(args, { cwd });
    expect(code).toBe(1);
    for (const text of [SECRET, 't0ken', '\u001b']) expect(stdout + stderr).not.toContain(text);
    expect(stdout).toContain('*** ***');
  });

  it('counts invalid and filtered messages, and compares the others', async () => {
    const folder = temporaryFolder({
      'mixed.ndjson': [track(1), '{"type":"track"}', track(2, { integrations: { All: false } })].join('\n'),
    });
    const [old, next] = [await receiver(() => ({})), await receiver(() => ({}))];
    const args = argv`replay mixed.ndjson --url ${next.url} --compare ${old.url}`;
    const { code, stdout } = await hooks(args, { cwd: folder });
    expect(code).toBe(1);
    expect(stdout).toContain('✗ invalid   mixed.ndjson:2: ');
    expect(stdout).toContain('1 message compared, no differences, 1 invalid, 1 filtered');
    expect(next.received).toHaveLength(1);
    const none = await hooks([...args, '--offset', '1', '--limit', '1'], { cwd: folder });
    expect(none).toMatchObject({
      code: 1,
      stdout: expect.stringContaining('\n0 messages compared, 1 invalid, in'),
    });
  });

  it('compares the states of both sides, which get the same requests', async () => {
    const folder = temporaryFolder({ 'day.ndjson': tracks(25), 'old.txt': '', 'new.txt': '' });
    const stateful = (name: string, skipped: number) => {
      const lines: string[] = [];
      return receiver((one) => {
        if (numberOf(one) !== skipped) lines.push(one.message.messageId);
        writeFileSync(join(folder, name), lines.join('\n'));
        return {};
      });
    };
    const states = ['--state', 'cat new.txt', '--old-state', 'cat old.txt'];
    const [old, same] = [await stateful('old.txt', -1), await stateful('new.txt', -1)];
    const equal = await hooks(
      [...argv`replay day.ndjson --url ${same.url} --compare ${old.url}`, ...states],
      { cwd: folder },
    );
    expect(equal).toMatchObject({ code: 0 });
    const stale = [
      ...argv`replay day.ndjson --url ${same.url} --compare ${old.url}`,
      '--state',
      'echo 1',
      '--old-state',
      'echo 2',
    ];
    await expectRejected(stale, 'The states of the two receivers differ before the first message', {
      cwd: folder,
    });
    for (const name of ['old.txt', 'new.txt']) writeFileSync(join(folder, name), '');
    const [again, lossy] = [await stateful('old.txt', -1), await stateful('new.txt', 22)];
    const lost = await hooks(
      [...argv`replay day.ndjson --url ${lossy.url} --compare ${again.url}`, ...states],
      { cwd: folder },
    );
    expect(lost.code).toBe(1);
    expect(lost.stdout).toContain(
      '✗ state: 1 line only in the old one, 0 lines only in the new one\n  old  m22\n',
    );
  });

  it('learns from later messages that differ, and from objects with random keys', async () => {
    const folder = temporaryFolder({ 'day.ndjson': tracks(120) });
    let count = 0;
    const reply = (one: ReceivedMessage) => ({
      body: {
        byId: { [randomBytes(6).toString('base64url')]: 1 },
        ...(numberOf(one) > 60 && { count: count++ }),
      },
    });
    const [old, next] = [await receiver(reply), await receiver(reply)];
    const args = argv`replay day.ndjson --url ${next.url} --compare ${old.url}`;
    const { code, stdout } = await hooks(args, { cwd: folder });
    expect(stdout).toContain('120 messages compared, no differences');
    expect(code).toBe(0);
    expect(stdout).toContain('$.count');
    expect(old.received.length).toBeLessThanOrEqual(120 + 20 + 50 + 15);
  });

  it('sends a few messages again before it reports a field that differs', async () => {
    let count = 0;
    // Both responses of the old receiver to each message have the same order, by chance.
    const old = await receiver(() => ({ body: { list: count++ < 4 ? [1, 2] : [2, 1], total: 1 } }));
    const next = await receiver(() => ({ body: { list: [2, 1], total: 2 } }));
    const args = argv`replay day.ndjson --url ${next.url} --compare ${old.url} --limit 2`;
    const { code, stdout } = await hooks(args, { cwd });
    expect(stdout).toContain('✗ body $.total: other number in 2 of 2 messages');
    expect(stdout).toContain('ignored as noise: order of $.list\n2 messages compared, 1 kind of difference,');
    expect(code).toBe(1);
    expect(old.received).toHaveLength(2 + 2 + 10);
    expect(next.received).toHaveLength(2);
  });

  it('finds one message to which only the new receiver responds slowly', async () => {
    const folder = temporaryFolder({ 'day.ndjson': tracks(60) });
    const old = await receiver(() => ({}));
    const next = await receiver((one) => ({ afterMs: numberOf(one) === 43 ? 1_500 : 0 }));
    const args = argv`replay day.ndjson --url ${next.url} --compare ${old.url}`;
    const { code, stdout } = await hooks(args, { cwd: folder });
    expect(stdout).toMatch(
      /✗ latency: a message of track "Signup" .* → 1\.\d*s each time .* slow in \d+ of 40 messages/,
    );
    expect(code).toBe(1);
    expect(next.received.filter((one) => numberOf(one) === 43)).toHaveLength(4);
  });

  it('notes equal URLs, and paths of --ignore that no response has', async () => {
    const one = await receiver(() => ({ body: { a: 1 } }));
    const args = argv`replay day.ndjson --url ${one.url} --compare ${one.url} --ignore $.a --ignore $.b`;
    const { code, stderr } = await hooks(args, { cwd });
    expect(stderr).toContain('note: --url and --compare are the same URL');
    expect(stderr).toContain('note: no response has `$.b` of --ignore');
    expect(code).toBe(0);
  });

  it('asks before it sends to a public host', async () => {
    const next = await receiver(() => ({}));
    const args = argv`replay day.ndjson --url ${next.url} --compare http://8.8.8.8/hook`;
    const sentence = 'There is no terminal at which to confirm sending to a public host (8.8.8.8)';
    await expectRejected(args, sentence, { cwd });
    expect(next.received).toEqual([]);
  });

  it.each([
    ['--load 9/s --for 1s', '`--compare` and `--load` cannot be given together'],
    ['--queue', '`--compare` and `--queue` cannot be given together'],
    ['--resume', '`--compare` and `--resume` cannot be given together'],
    ['--dry-run', '`--compare` and `--dry-run` cannot be given together'],
    ['--state true', '`--state` is for `--old-state`, which is not given'],
    ['--ignore $', 'Expected `--ignore` to be a path, got `$`'],
    ['--url http://127.0.0.1:9/', 'Expected one webhook to compare with `--compare`, got 2 webhooks'],
    ['--filter event=None', 'Nothing was compared: no message is left to send'],
  ])('rejects %s', async (flags, sentence) => {
    const [old, next] = [await receiver(() => ({})), await receiver(() => ({}))];
    const args = argv`replay day.ndjson --url ${next.url} --compare ${old.url} ${flags.split(' ')}`;
    await expectRejected(args, sentence, { cwd });
  });

  it('rejects its flags without --compare', async () => {
    const args = argv`replay day.ndjson --loopback --ignore a`;
    await expectRejected(args, '`--ignore` is for `--compare`, which is not given', { cwd });
  });

  it('ends with 2 if a receiver cannot be reached', async () => {
    const next = await receiver(() => ({}));
    const args = argv`replay day.ndjson --url ${next.url} --compare http://127.0.0.1:9/hook`;
    await expectRejected(args, 'Cannot reach the old receiver at http://127.0.0.1:9/hook: ', { cwd });
  });
});

function linked(one: ReceivedMessage): Reply {
  const location = `http://${one.headers.host}/items/${numberOf(one)}`;
  const etag = `"${location.length}-${one.headers.host}"`;
  return { status: 201, headers: { location, etag }, body: { url: location } };
}
