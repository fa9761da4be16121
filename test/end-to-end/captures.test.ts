import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { argv } from './argv.ts';
import { toCapture } from '../../src/capture/to-capture.ts';
import { MASK } from '../../src/redact.ts';
import { pairsOf } from '../../src/receiver/response/forwarding.ts';
import { errorOf } from '../cli/expect-rejected.ts';
import { hooks, startHooks } from '../cli/run-in-process.ts';
import { nextJson } from './running-command.ts';
import { receiving, ROOT, SECRET, sorted, summaryOf, track } from './receiving.ts';
import { sign } from '../sign.ts';
import { temporaryFolder } from '../temporary-folder.ts';

it('verify accepts what listen saves, and replay --exact sends the same bytes', async () => {
  const cwd = temporaryFolder();
  const listen = startHooks(
    argv`listen --port 0 --secret ${SECRET} --save captures --count 7 --within 15s -o json`,
    { cwd },
  );
  const { url } = await nextJson<{ url: string }>(listen);
  const authorized = url.replace('//', '//user:CANARY@');
  const sent = await hooks(
    argv`replay fixtures/*.json --url ${authorized} --secret ${SECRET} --header ${'Cookie: CANARY'}`,
    { cwd: ROOT },
  );
  expect(sent.code).toBe(0);
  expect(await listen.exited).toMatchObject({ code: 0 });

  const files = (await readdir(join(cwd, 'captures'))).map((name) => join('captures', name));
  expect(files).toHaveLength(7);
  for (const file of files) expect(await readFile(join(cwd, file), 'utf8')).not.toContain('CANARY');
  const verified = await Promise.all(
    files.slice(0, 3).map((file) => hooks(argv`verify --secret ${SECRET} -o json ${file}`, { cwd })),
  );
  for (const { code, stdout } of verified) {
    expect([code, JSON.parse(stdout)]).toEqual([0, { valid: true, secret: 1, over: 'bytes' }]);
  }
  expect(await hooks(['verify', '--secret', 'other', files[0] ?? ''], { cwd })).toMatchObject({ code: 1 });

  const to = await receiving({ secret: SECRET });
  const again = await hooks(argv`replay captures/*.json --url ${to.url} --secret ${SECRET} --exact -o json`, {
    cwd,
  });
  const stderr =
    'note: signed again with the secret: 7 captures; without a secret, the signature is sent as received\n' +
    'note: masked in the captures, so sent only if --header or the config gives it: Cookie, Authorization\n';
  expect(again).toMatchObject({ code: 0, stderr });
  expect(summaryOf(again.stdout)).toMatchObject({ read: 7, delivered: 7 });
  expect(to.requests.every(({ verdict }) => verdict === 'valid')).toBe(true);
  const golden = await Promise.all(
    ['alias', 'delete', 'group', 'identify', 'page', 'screen', 'track'].map((type) =>
      readFile(join(ROOT, `fixtures/golden/${type}.body`), 'utf8'),
    ),
  );
  expect(to.bodies().toSorted()).toEqual(golden.map((body) => body.trim()).toSorted());
});

/** A capture of Stripe, with a signature over a body that is not JSON.stringify's, and the headers of the connection. */
const SIGNED_HEADERS = [
  ['Host', '127.0.0.1:1'],
  ['Stripe-Signature', 't=1,v1=0a1b'],
  ['Webhook-Id', 'msg_1'],
  ['X-Request-Id', 'r-1'],
] as const;

type Pairs = readonly (readonly [string, string])[];

const signedCapture = (headers: Pairs): string =>
  `${JSON.stringify(toCapture({ method: 'POST', url: '/', headers, body: Buffer.from('{ "n": 1 }') }))}\n`;

async function replayed(args: readonly string[], headers: Pairs = SIGNED_HEADERS) {
  const to = await receiving({});
  const url = argv`replay - --exact --url ${to.url}`;
  const done = await hooks([...url, ...args], { stdin: signedCapture(headers) });
  const received = new Map(to.requests.flatMap(({ rawHeaders }) => pairsOf(rawHeaders)));
  const names = ['Stripe-Signature', 'Webhook-Id', 'X-Request-Id', 'X-Signature'];
  return { ...done, sent: names.map((name) => received.get(name)) };
}

describe('replay --exact of a capture with a signature', () => {
  it('sends the recorded signature without a secret, and signs again with one', async () => {
    const asReceived = await replayed([]);
    expect(asReceived.sent).toEqual(['t=1,v1=0a1b', 'msg_1', 'r-1', undefined]);
    expect(asReceived.stderr).toContain(
      'note: signature sent as received: 1 capture; --secret signs again\n',
    );
    const again = await replayed(argv`--secret ${SECRET}`);
    expect(again.sent).toEqual([undefined, undefined, 'r-1', sign('{ "n": 1 }', SECRET)]);
    expect(again.stderr).toContain('note: signed again with the secret: 1 capture;');
  });

  it('prefers a signature of --header, and sends no masked one', async () => {
    const { sent } = await replayed(argv`--header ${'Stripe-Signature: t=2,v1=ff'}`);
    expect(sent).toEqual(['t=2,v1=ff', 'msg_1', 'r-1', undefined]);
    const masked = await replayed([], [['X-Gitlab-Token', MASK]]);
    expect(masked.stderr).toContain(
      'note: masked in the captures, so sent only if --header or the config gives it: X-Gitlab-Token\n',
    );
  });

  it('shows the recorded signature in a dry run, and keeps it in the file of --failed', async () => {
    const cwd = temporaryFolder();
    const dry = await hooks(argv`replay - --exact --url http://127.0.0.1:9 --dry-run`, {
      stdin: signedCapture(SIGNED_HEADERS),
    });
    expect(dry.stdout).toContain('Stripe-Signature: t=1,v1=0a1b');
    const flags = argv`--url http://127.0.0.1:9 --retry-for 0 --failed failed.ndjson`;
    await hooks([...argv`replay - --exact`, ...flags], { cwd, stdin: signedCapture(SIGNED_HEADERS) });
    expect(await readFile(join(cwd, 'failed.ndjson'), 'utf8')).toContain(
      '["Stripe-Signature","t=1,v1=0a1b"]',
    );
  });
});

/** Bodies that hooks receives, but would not send as messages. */
const ODD_BODIES = [
  Buffer.from('a'),
  Buffer.from([0xff, 0xfe]),
  Buffer.from('{"type":"order","id":12345678901234567890}'),
  Buffer.from(`{"batch":[${track(1)},${track(2)}]}`),
  Buffer.from('[1, 2]'),
  Buffer.from('\ufeff{"n":1E400}'),
  Buffer.from('[['.repeat(100_000)),
  Buffer.from(`${'['.repeat(5_000)}${']'.repeat(5_000)}`),
  Buffer.from(''),
];
const COUNT = ODD_BODIES.length;

function captured(body: Uint8Array): string {
  return `${JSON.stringify(toCapture({ method: 'POST', url: '/', headers: [], body }))}\n`;
}

it('replay --exact sends any received body, and keeps its bytes in the file of --failed', async () => {
  const to = await receiving({ secret: SECRET, respond: `404x${COUNT},200` });
  const cwd = temporaryFolder({ 'odd.ndjson': ODD_BODIES.map(captured).join('') });
  const flags = ['--url', to.url, '--secret', SECRET, '--exact', '-o', 'json'];
  const failed = await hooks(argv`replay odd.ndjson --failed failed.ndjson ${flags}`, { cwd });
  expect([failed.code, summaryOf(failed.stdout)]).toMatchObject([1, { read: COUNT, failed: COUNT }]);
  const again = await hooks(['replay', 'failed.ndjson', ...flags], { cwd });
  expect([again.code, summaryOf(again.stdout)]).toMatchObject([0, { read: COUNT, delivered: COUNT }]);
  const bodies = to.requests.map(({ body }) => Buffer.from(body).toString('latin1'));
  const expected = sorted(ODD_BODIES.map((body) => body.toString('latin1')));
  expect(sorted(bodies.slice(0, COUNT))).toEqual(expected);
  expect(sorted(bodies.slice(COUNT))).toEqual(expected);
  expect(to.requests.every(({ verdict }) => verdict === 'valid')).toBe(true);
});

it('replay --exact --filter selects captures by the fields of their bodies', async () => {
  const to = await receiving();
  const cwd = temporaryFolder({ 'odd.ndjson': ODD_BODIES.map(captured).join('') });
  const flags = ['--url', to.url, '--exact', '--filter', 'type=order', '-o', 'json'];
  const { code, stdout } = await hooks(['replay', 'odd.ndjson', ...flags], { cwd });
  expect([code, summaryOf(stdout)]).toMatchObject([0, { read: 1, delivered: 1, skipped: COUNT - 1 }]);
  expect(to.bodies()).toEqual([String(ODD_BODIES[2])]);
});

const asCapture = (body: string, signature: string): string =>
  JSON.stringify({ capture: 1, method: 'POST', url: '/', headers: [['X-Signature', signature]], body });
const asHttp = (body: string, signature: string): string =>
  `POST / HTTP/1.1\r\nX-Signature: ${signature}\r\n\r\n${body}`;

it.each([
  ['capture', asCapture],
  ['http', asHttp],
])(
  'verify needs --format %s for an input that is too large to be recognized, and the hint says so',
  async (format, inputOf) => {
    const body = JSON.stringify('x'.repeat(9 * 1024 * 1024));
    const cwd = temporaryFolder({ big: inputOf(body, sign(body, SECRET)) });
    const words = ['verify', '--secret', SECRET, 'big'];
    const hint = `add --format ${format}: an input of more than 8 MiB is taken for the body itself`;
    const error = `error: There is no signature to compare with\nhint:  ${hint}\n`;
    expect(errorOf(await hooks(words, { cwd }))).toContain(error);
    expect(await hooks([...words, '--format', format], { cwd })).toMatchObject({ code: 0, stderr: '' });
  },
);

it.each([
  ['capture', (capture: string) => capture],
  ['http', () => 'POST /webhook HTTP/1.1\r\nHost: a.example\r\n\r\n{}'],
])('verify explains that it reads a %s as the body if a signature is given', async (format, inputOf) => {
  const stdin = inputOf(await readFile(join(ROOT, 'fixtures/captures/track.json'), 'utf8'));
  const words = ['verify', '--secret', SECRET, '--signature', '0'.repeat(40)];
  const { code, stderr } = await hooks(words, { stdin });
  expect([code, stderr]).toEqual([
    1,
    `note: a signature was given, so the input was taken for the body itself; --format ${format} reads it as what it seems to be\n`,
  ]);
  expect(await hooks([...words, '--format', 'raw'], { stdin })).toMatchObject({ code: 1, stderr: '' });
});
