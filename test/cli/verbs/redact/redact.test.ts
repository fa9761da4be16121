import { chmodSync, mkdirSync, readdirSync, readFileSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { setImmediate } from 'node:timers/promises';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { harEntry } from '../../../capture/import/formats.ts';
import { jsonLines } from '../../../end-to-end/receiving.ts';
import { sign } from '../../../sign.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { hooks, startHooks } from '../../run-in-process.ts';

const BODY =
  '{"type":"track","event":"Order Completed","userId":"jane@acme.test","properties":{"note":"Jane called about it"}}';
const KEY = 'a key of the team, long enough';

function captureOf(body: string, more: object = {}): string {
  const headers = [['X-Signature', sign(body, 's3cret')]];
  return JSON.stringify({
    capture: 1,
    at: '2026-11-20T21:10:05.456Z',
    method: 'POST',
    url: '/hook',
    headers,
    body,
    verdict: 'valid',
    ...more,
  });
}

/** Redacts files, and returns the result with the files that were written. */
async function redacting(files: Record<string, string>, args: readonly string[] = Object.keys(files)) {
  const cwd = temporaryFolder({ ...files, key: KEY });
  const env = { HOOKS_DATA_DIR: join(cwd, 'data') };
  const result = await hooks(['redact', ...args, '--to', 'out'], { cwd, env });
  const names = result.code === 2 ? [] : readdirSync(join(cwd, 'out'));
  return {
    ...result,
    cwd,
    env,
    names,
    texts: names.map((name) => readFileSync(join(cwd, 'out', name), 'utf8')),
  };
}

it('writes captures without personal data that verify with the secret of the fixtures', async () => {
  const { code, stdout, cwd, env, names, texts } = await redacting({ 'a.json': captureOf(BODY) });
  expect([code, names]).toEqual([0, ['000001-order-completed.json']]);
  expect(stdout.replaceAll('\\', '/')).toBe(
    `out/000001-order-completed.json  POST /hook  ${BODY.length + 19} bytes  id 1\n1 redacted: id 1\n` +
      'review these texts, which can have names:\n  properties.note  1\n',
  );
  expect(texts.join('')).not.toMatch(/jane@|acme/);
  const file = join('out', `${names[0]}`);
  expect(await hooks(['verify', '--secret', 'hooks-fixture-secret', file], { cwd })).toMatchObject({
    code: 0,
  });
  // The output passes a check, until it is edited; the original does not.
  expect(await hooks(['redact', file, '--check'], { cwd, env })).toMatchObject({ code: 0 });
  expect(await hooks(['redact', 'a.json', '--check'], { cwd, env })).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('1 checked, 1 with personal data: id 1'),
  });
  const edited = `${texts[0]}`.replace('called about it', 'of tom@acme.test');
  const added = `${texts[0]}`.replace('{', '{"note":"of tom@acme.test",');
  const again = temporaryFolder({ 'a.json': edited, 'b.json': added });
  for (const name of ['a.json', 'b.json']) {
    expect(await hooks(['redact', name, '--check'], { cwd: again, env })).toMatchObject({ code: 1 });
  }
});

it('keeps its key in the data folder, for its owner only, and makes none for a check', async () => {
  const { cwd, env, texts } = await redacting({ 'a.json': captureOf(BODY) });
  const key = join(cwd, 'data/redact.key');
  expect(statSync(key).mode & 0o777).toBe(0o600);
  await hooks(['redact', 'a.json', '--to', 'again'], { cwd, env });
  const again = readFileSync(join(cwd, 'again/000001-order-completed.json'), 'utf8');
  expect(again).toBe(texts[0]);
  expect(again).not.toContain(readFileSync(key, 'utf8').trim());
  chmodSync(key, 0o640);
  expect(await hooks(['redact', 'a.json', '--to', 'again'], { cwd, env })).toMatchObject({
    code: 0,
    stderr: `${key} may be read by others (mode 640): chmod 600 ${key}\n`,
  });
  const other = { HOOKS_DATA_DIR: join(cwd, 'other') };
  await hooks(['redact', 'a.json', '--check'], { cwd, env: other });
  expect(readdirSync(cwd)).not.toContain('other');
});

it('makes the same pseudonyms with the same --key-file, and signs with --secret', async () => {
  const files = { 'a.json': captureOf(BODY) };
  const args = ['a.json', '--key-file', 'key', '--secret', 'other'];
  const [one, other] = [await redacting(files, args), await redacting(files, args)];
  expect(one.texts).toEqual(other.texts);
  const file = join('out', `${one.names[0]}`);
  expect(await hooks(['verify', '--secret', 'other', file], { cwd: one.cwd })).toMatchObject({ code: 0 });
  expect(readdirSync(one.cwd)).not.toContain('data');
  expect(await redacting({ ...files, short: 'abc' }, ['a.json', '--key-file', 'short'])).toMatchObject({
    code: 2,
    stderr: expect.stringContaining('short: expected a key of at least 16 bytes, got 3'),
  });
});

it('reads HAR files, curl commands, raw requests and files of messages', async () => {
  const har = JSON.stringify({ log: { entries: [harEntry({ url: '/a', body: Buffer.from(BODY) })] } });
  const http = `POST /h HTTP/1.1\r\nX-User-Id: jane@acme.test\r\n\r\n${BODY}`;
  const { code, names, texts } = await redacting({
    'a.har': har,
    'b.sh': `curl https://a.example/b --json '${BODY}'`,
    'c.http': http,
    'd.ndjson': `${BODY}\n${BODY}\n`,
    'e.json': JSON.stringify([JSON.parse(BODY), JSON.parse(BODY)], null, 2),
  });
  expect(code).toBe(0);
  expect(names).toEqual([
    ...[1, 2, 3].map((number) => `00000${number}-order-completed.json`),
    '000004-messages.ndjson',
    '000005-messages.ndjson',
  ]);
  const ids = new Set(
    texts.flatMap((text) => [...text.matchAll(/userId\\?"\s*:\s*\\?"([^"\\]+)/g)].map(([, id]) => id)),
  );
  expect(ids.size).toBe(1);
  expect(texts.slice(3).map((text) => jsonLines(text).length)).toEqual([2, 2]);
  expect(texts.join('')).not.toMatch(/jane@|acme/);
});

it('says that it masked the signature of an unknown scheme', async () => {
  const capture = captureOf(BODY, { headers: [['X-Signature', 'a'.repeat(64)]] });
  const { code, stdout, texts } = await redacting({ 'a.json': capture });
  expect([code, stdout]).toEqual([
    0,
    expect.stringContaining('\nsignatures that no known scheme makes, now masked: 1\n'),
  ]);
  expect(JSON.parse(`${texts[0]}`)).toMatchObject({ headers: [['X-Signature', '***']], verdict: 'unsigned' });
});

describe('a request that cannot be redacted safely', () => {
  it('is rejected without its personal data, and the others are written', async () => {
    const plain = captureOf('Jane Doe, jane@acme.test', { url: '/u/jane@acme.test' });
    const { code, names, stderr } = await redacting({ 'a.json': plain, 'b.json': captureOf(BODY) });
    expect([code, names.length]).toEqual([1, 1]);
    expect(stderr).toMatch(
      /^a\.json: request 1 \(POST \/u\/\w+%40redacted\.example\) is rejected: its body is a text, and only JSON and forms can be redacted safely\n$/,
    );
  });

  it('is rejected without the secret of its own target', async () => {
    const url = '/services/T0A1/B0B1/Xy12';
    const { stderr } = await redacting({ 'a.json': captureOf('Jane Doe', { url }) });
    expect(stderr).toMatch(/^a\.json: request 1 \(POST \/services\/\*\*\*\) is rejected: /);
  });

  it('is rejected if no secret fits its scheme', async () => {
    const headers = [
      ['webhook-id', 'm1'],
      ['webhook-timestamp', '1763673005'],
      ['webhook-signature', `v1,${Buffer.alloc(32).toString('base64')}`],
    ];
    const capture = captureOf(BODY, { headers });
    const { code, names, stderr } = await redacting({ 'a.json': capture }, [
      'a.json',
      '--secret',
      'a plain text',
    ]);
    expect([code, names]).toEqual([1, []]);
    expect(stderr).toMatch(/The scheme standard-webhooks .*: none begins with whsec_\n$/);
  });

  it('is named in JSON for programs, with the counts', async () => {
    const { stdout } = await redacting(
      { 'a.json': captureOf('<a>'), 'b.json': captureOf(BODY), 'c.txt': '{}' },
      ['a.json', 'b.json', 'c.txt', '-o', 'json'],
    );
    expect(jsonLines(stdout)).toEqual([
      {
        file: 'a.json',
        rejected: 'request 1 (POST /hook)',
        reason: expect.stringContaining('its body is a text'),
      },
      {
        file: 'b.json',
        saved: join('out', '000001-order-completed.json'),
        request: 'POST /hook',
        bytes: expect.any(Number),
        replaced: { id: 1 },
      },
      { file: 'c.txt', rejected: 'the file', reason: 'it has no requests and no messages' },
      {
        summary: {
          redacted: 1,
          rejected: 2,
          skipped: 0,
          replaced: { id: 1 },
          review: [{ path: 'properties.note', count: 1 }],
        },
      },
    ]);
  });
});

it('names no file by what a request says, other than letters, digits and hyphens', async () => {
  const body = '{"type":"track","event":"../../jane@acme.test\\u0000"}';
  const { names, cwd } = await redacting({ 'a.json': captureOf(body, { url: '/../../x', method: '..' }) });
  expect(names).toEqual([expect.stringMatching(/^000001-[a-z0-9-]+\.json$/)]);
  expect(names.join('')).not.toMatch(/jane|acme/);
  expect(readdirSync(cwd).toSorted()).toEqual(['a.json', 'data', 'key', 'out']);
});

it('names a gzipped file that is cut off', async () => {
  const packed = gzipSync(`${captureOf(BODY)}\n`.repeat(50));
  const cwd = temporaryFolder({ 'a.gz': packed.subarray(0, packed.length - 20) });
  for (const verb of ['redact', 'import']) {
    const { code, stderr } = await hooks(
      [verb, 'a.gz', '--to', 'out', ...(verb === 'redact' ? ['--key-file', '-'] : [])],
      {
        cwd,
        stdin: KEY,
      },
    );
    expect([code, stderr]).toEqual([
      2,
      'error: a.gz: the gzipped file is corrupt or cut off\nhint:  copy it again\n',
    ]);
  }
});

it.each(['a.json', 'd.ndjson'])('ends without an error if its output is no longer read: %s', async (file) => {
  const rest = Array.from({ length: 40 }, (_, index) => `${index}${file}`);
  const cwd = temporaryFolder(
    Object.fromEntries(rest.map((name) => [name, file === 'a.json' ? captureOf(BODY) : BODY])),
  );
  const env = { HOOKS_DATA_DIR: join(cwd, 'data') };
  const { lines, stop } = startHooks(['redact', ...rest, '--to', 'out'], { cwd, env });
  await lines.next();
  // The command is at another file by then.
  await setImmediate();
  expect(await stop('closed-pipe' as NodeJS.Signals)).toMatchObject({ code: 0, stderr: '' });
  expect(readdirSync(join(cwd, 'out')).length).toBeLessThan(rest.length);
});

it('takes paths as --ignore does, and notes those that matched nothing', async () => {
  const { stderr, texts } = await redacting({ 'a.json': captureOf(BODY) }, [
    'a.json',
    '--drop',
    '$.properties.note',
    '--keep',
    'traits.plan',
    '--drop',
    '$.items[*].sku',
  ]);
  expect(texts.join('')).not.toContain('Jane called');
  expect(stderr).toBe(
    ['--keep traits.plan', '--drop $.items[*].sku']
      .map((flag) => `${flag} matched nothing: paths are as in filters, such as traits.plan or **.email\n`)
      .join(''),
  );
});

describe('wrong flags', () => {
  it.each([
    [['a.json'], 'Expected `--to` to name the folder'],
    [['a.json', '--to', 'out', '--check'], '`--check` and `--to` cannot be given together'],
    [['a.json', '--to', '.'], 'Expected `--to` to be another folder than that of a.json'],
    [['a.json', '--to', 'out', '--keep', ''], 'Expected `--keep` to be a non-empty text'],
  ])('%s', async (args, sentence) => {
    const cwd = temporaryFolder({ 'a.json': captureOf(BODY) });
    mkdirSync(join(cwd, 'data'));
    const { code, stderr } = await hooks(['redact', ...args], {
      cwd,
      env: { HOOKS_DATA_DIR: join(cwd, 'data') },
    });
    expect(code).toBe(2);
    expect(stderr).toContain(sentence);
  });
});
