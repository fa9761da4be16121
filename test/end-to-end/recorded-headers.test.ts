import { once } from 'node:events';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { gzipSync } from 'node:zlib';
import { describe, expect, it } from 'vitest';
import { toCapture } from '../../src/capture/to-capture.ts';
import { pairsOf } from '../../src/receiver/response/forwarding.ts';
import { afterEachFile } from '../clean-ups.ts';
import { hooks } from '../cli/run-in-process.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { argv } from './argv.ts';
import { SECRET } from './receiving.ts';

type Pairs = readonly (readonly [name: string, value: string])[];

interface Came {
  readonly target: string;
  readonly headers: Pairs;
  readonly body: Buffer;
}

const closers: (() => void)[] = [];
afterEachFile(() => {
  for (const close of closers.splice(0)) close();
});

/** Headers that the HTTP client writes for each connection and body. */
const OF_CLIENT = /^(?:host: 127|connection: keep-alive|content-length: |accept-encoding: identity$)/i;

/** Starts a server on a free port that keeps what comes, and responds with the status that `statusOf` returns. */
async function server(statusOf: (came: Came) => number = () => 200) {
  const came: Came[] = [];
  const http = createServer((request, response) => {
    const chunks: Buffer[] = [];
    request.on('data', (chunk: Buffer) => chunks.push(chunk));
    request.on('end', () => {
      const headers = pairsOf(request.rawHeaders).filter((pair) => !OF_CLIENT.test(pair.join(': ')));
      const one = { target: `${request.method} ${request.url}`, headers, body: Buffer.concat(chunks) };
      came.push(one);
      response.writeHead(statusOf(one)).end('done');
    });
  });
  http.listen(0, '127.0.0.1');
  await once(http, 'listening');
  closers.push(() => {
    http.closeAllConnections();
    http.close();
  });
  return { url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/hook`, came };
}

const captured = (headers: Pairs, body: string | Buffer, method = 'POST'): string =>
  JSON.stringify(toCapture({ method, url: '/old?x=1', headers, body: Buffer.from(body) }));

const valueOf = ({ headers }: Came, wanted: string): string | undefined =>
  headers.find(([name]) => name.toLowerCase() === wanted)?.[1];

/** Whether a request is complete for receivers that need the event of GitHub or the type of a form. */
const isKnown = (came: Came): boolean =>
  valueOf(came, 'x-github-event') !== undefined ||
  valueOf(came, 'content-type') === 'application/x-www-form-urlencoded';

/** Headers that are sent again. */
const SENT: Pairs = [
  ['user-agent', 'GitHub-Hookshot/1a2b3c'],
  ['Content-Type', 'application/json; charset=utf-8'],
  ['X-GitHub-Event', 'push'],
  ['X-GitHub-Delivery', '72d3162e-cc78-11e3-81ab-4c9367dc0958'],
  ['X-Tag', 'one'],
  ['x-tag', 'two'],
  ['Accept', '*/*'],
];
const SIGNATURE: Pairs = [['X-Hub-Signature-256', `sha256=${'0a'.repeat(32)}`]];
/** Headers of one connection, of proxies and of one delivery, and a masked one. */
const LEFT_OUT: Pairs = [
  ['Host', 'old.example'],
  ['Connection', 'close, X-Hop'],
  ['X-Hop', '1'],
  ['Content-Length', '99999'],
  ['Accept-Encoding', 'gzip'],
  ['Proxy-Authorization', 'x'],
  ['Expect', '100-continue'],
  ['X-Forwarded-For', '192.0.2.1'],
  ['X-Real-IP', '192.0.2.1'],
  ['Via', '1.1 old'],
  ['Idempotency-Key', 'old'],
  ['traceparent', `00-${'1'.repeat(32)}-${'2'.repeat(16)}-01`],
  ['Cookie', 'masked by toCapture'],
];

const github = captured([...LEFT_OUT, ...SENT, ...SIGNATURE], '{ "ref": "main" }');

/** The three ways to send captures, each with the receivers that get them. */
const WAYS = [
  ['replay', []],
  ['replay --compare', ['--compare']],
  ['replay --load', argv`--load 20/s --for 200ms --loop`],
] as const;

async function sent(way: readonly string[], input: string, flags: readonly string[] = []) {
  const [to, old] = [await server(), await server()];
  const cwd = temporaryFolder({ 'in.json': input });
  const isCompared = way[0] === '--compare';
  const given = [...way, ...(isCompared ? [old.url] : []), ...flags];
  const done = await hooks(argv`replay in.json --exact --url ${to.url} ${given}`, { cwd });
  expect(done.code, done.stdout + done.stderr).toBe(0);
  return { ...done, came: isCompared ? [...to.came, ...old.came] : to.came };
}

const KEY = ['Idempotency-Key', expect.stringMatching(/^[0-9a-f-]{24,36}$/)];

describe.concurrent.each(WAYS)('%s --exact of a capture', (_name, way) => {
  it('sends the recorded headers, and the signature only without a secret', async () => {
    const plain = await sent(way, github);
    expect(plain.came.length).toBeGreaterThan(0);
    for (const { target, headers, body } of plain.came) {
      expect([target, body.toString()]).toEqual(['POST /hook', '{ "ref": "main" }']);
      expect(headers).toEqual([...SENT, ...SIGNATURE, KEY]);
    }
    const again = await sent(way, github, argv`--secret ${SECRET} --scheme github`);
    for (const one of again.came) {
      expect(one.headers.filter(([name]) => name !== 'X-Hub-Signature-256')).toEqual([...SENT, KEY]);
      expect(valueOf(one, 'x-hub-signature-256')).not.toBe(SIGNATURE[0]?.[1]);
      expect(one.headers.filter(([name]) => name === 'X-Hub-Signature-256')).toHaveLength(1);
    }
  });

  it('prefers the headers of --header, and has defaults for those that were not recorded', async () => {
    const own = argv`--header ${'X-Tag: mine'} --header ${'User-Agent: me/1'} --header ${'idempotency-key: k'}`;
    for (const { headers } of (await sent(way, github, own)).came) {
      expect(headers.filter(([name]) => /^(?:x-tag|user-agent|idempotency-key)$/i.test(name))).toEqual([
        ['X-Tag', 'mine'],
        ['User-Agent', 'me/1'],
        ['idempotency-key', 'k'],
      ]);
    }
    for (const one of (await sent(way, captured([['X-Event', 'e']], '{}'))).came) {
      expect(valueOf(one, 'content-type')).toBe('application/json');
      expect(valueOf(one, 'user-agent')).toMatch(/^hooks-cli\//);
    }
  });

  it('sends forms and packed bodies as what they are', async () => {
    const form = captured([['Content-Type', 'application/x-www-form-urlencoded']], 'a=1&b=%20');
    for (const one of (await sent(way, form)).came) {
      expect([valueOf(one, 'content-type'), one.body.toString()]).toEqual([
        'application/x-www-form-urlencoded',
        'a=1&b=%20',
      ]);
    }
    const packed = gzipSync('{}');
    for (const one of (await sent(way, captured([['Content-Encoding', 'gzip']], packed))).came) {
      expect([valueOf(one, 'content-encoding'), one.body.equals(packed)]).toEqual(['gzip', true]);
    }
  });
});

describe.concurrent('replay --exact of captures', () => {
  it('--compare finds a receiver that fails only for the recorded headers', async () => {
    const old = await server((came) => (isKnown(came) ? 200 : 400));
    const next = await server((came) => (isKnown(came) ? 500 : 400));
    const form = captured([['Content-Type', 'application/x-www-form-urlencoded']], 'command=%2Fweather');
    const cwd = temporaryFolder({ 'in.ndjson': `${github}\n${form}\n` });
    const flags = argv`--exact --url ${next.url} --compare ${old.url}`;
    const { code, stdout } = await hooks(argv`replay in.ndjson ${flags}`, { cwd });
    expect([code, stdout]).toEqual([1, expect.stringContaining('status: 200 → 500 in 2 of 2 messages')]);
  });

  it('names what is not sent as recorded: masked headers, another method and the scheme', async () => {
    const put = captured([...SENT, ...SIGNATURE, ['Cookie', 'c'], ['X-Api-Key', 'k']], '{}', 'PUT');
    for (const way of [[], ['--compare']]) {
      const { stderr, came } = await sent(way, put, argv`--secret ${SECRET} --header ${'x-api-key: mine'}`);
      expect(stderr.split('\n').filter((line) => /mask|POST|scheme/.test(line))).toEqual([
        'note: signed by segment, but the captures by github: add --scheme github',
        'note: masked in the captures, so sent only if --header or the config gives it: Cookie, X-Api-Key',
        'note: sent as POST, as every delivery is: the captures have PUT',
      ]);
      expect(came.map(({ target }) => target)).toEqual(came.map(() => 'POST /hook'));
      expect((await sent(way, put, argv`-q`)).stderr).toBe('');
    }
    const same = await sent([], github, argv`--secret ${SECRET} --scheme github`);
    expect(same.stderr).not.toContain('captures by');
    expect((await sent([], github)).stderr).not.toContain('captures by');
  });

  it('does not repeat the headers of a custom scheme that signs again', async () => {
    const to = await server();
    const config = `schemes:\n  ours:\n    headers:\n      X-Ours-Time: '{timestamp}'\n      X-Ours: '{signature}'\n    signs: '{timestamp}.{body}'\n    hash: sha256\n    encoding: hex\n`;
    const input = captured(
      [
        ['X-Ours-Time', '1'],
        ['X-Ours', 'old'],
        ['X-Event', 'e'],
      ],
      '{}',
    );
    const cwd = temporaryFolder({ '.hooksrc.yaml': config, 'in.json': input });
    const flags = argv`--exact --url ${to.url} --secret ${SECRET} --scheme ours`;
    expect(await hooks(argv`replay in.json ${flags}`, { cwd })).toMatchObject({ stderr: '', code: 0 });
    const values = to.came.flatMap(({ headers }) => headers.filter(([name]) => /^x-ours/i.test(name)));
    expect(values).toEqual([
      ['X-Ours-Time', expect.stringMatching(/^\d{10}$/)],
      ['X-Ours', expect.stringMatching(/^[0-9a-f]{64}$/)],
    ]);
  });

  it('keeps the headers, the method and the target in the file of --failed', async () => {
    const cwd = temporaryFolder({ 'in.json': captured(SENT, 'a=1', 'PUT') });
    const flags = argv`--exact --url http://127.0.0.1:9 --retry-for 0 --failed failed.ndjson`;
    await hooks(argv`replay in.json ${flags}`, { cwd });
    const to = await server();
    const again = await hooks(argv`replay failed.ndjson --exact --url ${to.url}`, { cwd });
    expect(again.stderr).toContain('the captures have PUT');
    expect(to.came.map(({ headers }) => headers)).toEqual([[...SENT, KEY]]);
  });

  it('says that the queue keeps no headers', async () => {
    const config = 'webhooks: [http://127.0.0.1:9]\n';
    const cwd = temporaryFolder({ '.hooksrc.yaml': config, 'in.json': github });
    const { code, stderr } = await hooks(argv`replay in.json --exact --queue --store q.db`, { cwd });
    const note =
      'note: captures queued without their headers; hooks worker sends those of the config, and application/json\n';
    expect([code, stderr]).toEqual([0, expect.stringContaining(note)]);
  });
});
