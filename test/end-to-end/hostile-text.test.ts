import { createServer, type Server } from 'node:http';
import { once } from 'node:events';
import type { AddressInfo } from 'node:net';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { answersBytes } from '../hostile-receivers.ts';
import { started } from '../transport/sending.ts';
import { hooks, startHooks, type HooksResult } from '../cli/run-in-process.ts';
import { EVIL_BODY, EVIL_MESSAGE, expectHarmless, HOSTILE } from './hostile-message.ts';
import { SECRET } from './receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** As it may stand in an HTTP header: no C0, and nothing beyond latin1. */
const IN_A_HEADER = 'evil\u009b2J\u0085';

/** That the hostile text was shown at all, without which nothing is proved. */
function expectShown({ stdout, stderr }: Pick<HooksResult, 'stdout' | 'stderr'>): void {
  expect(stdout + stderr).toContain('evil');
}

/** Whose every answer is hostile, from the reason phrase to the body. */
async function hostileReceiver(status: number): Promise<string> {
  const body = `${HOSTILE}\n${HOSTILE}`;
  const head = `HTTP/1.1 ${status} ${IN_A_HEADER}\r\nlocation: http://x/${IN_A_HEADER}\r\nretry-after: ${IN_A_HEADER}\r\nx-a: ${IN_A_HEADER}`;
  const bytes = `${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`;
  const receiver = await started(
    answersBytes(Buffer.concat([Buffer.from(bytes, 'latin1'), Buffer.from(body)]).toString('binary')),
  );
  return receiver.url;
}

/** With -v, which shows all that the others show, and stack traces. */
const OUTPUTS: readonly (readonly string[])[] = [['-v'], ['-v', '-o', 'json']];

interface Case {
  readonly what: string;
  readonly args: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Not even escaped. */
  readonly isKeptBack?: true;
}

const ONE_ROUND = ['--retry-for', '0'];
/** No file name has a NUL or a slash. */
const FILE = HOSTILE.replaceAll('\u0000', '').slice(0, 60);
const EVIL_CONFIG = JSON.stringify({
  sources: {
    [HOSTILE]: {
      destinations: {
        [HOSTILE]: {
          webhooks: [
            { url: `http://127.0.0.1:9/${HOSTILE}`, headers: { 'X-A': HOSTILE.replaceAll(/[\r\n]/g, '') } },
          ],
        },
      },
    },
  },
});

describe('text from outside never reaches the terminal raw', () => {
  const cases: readonly Case[] = [
    {
      what: 'send, of flags',
      args: [
        'send',
        'track',
        '--event',
        HOSTILE.replaceAll('\u0000', ''),
        '--user-id',
        'evil\u001b[2J',
        '--loopback',
      ],
    },
    {
      what: 'send, of a message',
      args: ['send', '--json', '@message.json', '--loopback'],
      files: { 'message.json': EVIL_BODY },
    },
    {
      what: 'send --dry-run',
      args: ['send', '--json', '@message.json', '--url', 'http://127.0.0.1:9/', '--dry-run'],
      files: { 'message.json': EVIL_BODY },
    },
    {
      what: 'send, of what is no message',
      isKeptBack: true,
      args: ['send', '--json', `{"type":"evil${HOSTILE.replaceAll('\u0000', '')}"}`, '--loopback'],
    },
    { what: 'send, of a file that is not there', args: ['send', '--json', `@${FILE}`, '--loopback'] },
    { what: 'send, of a URL', args: ['send', 'track', '--event', 'a', '--url', `evil:${FILE}`] },
    {
      what: 'send, of a header',
      isKeptBack: true,
      args: ['send', 'track', '--event', 'a', '--url', 'http://127.0.0.1:9', '--header', `X-A: ${FILE}`],
    },
    {
      what: 'replay, of messages',
      args: ['replay', 'day.ndjson', '--loopback'],
      files: { 'day.ndjson': `${EVIL_BODY}\n` },
    },
    {
      what: 'replay, of a file name',
      args: ['replay', FILE, '--loopback'],
      files: { [FILE]: `${EVIL_BODY}\n{"type":"x"}\n` },
    },
    { what: 'replay, of a file that is not there', args: ['replay', FILE, '--loopback'] },
    {
      what: 'replay, of what is malformed',
      args: ['replay', 'day.ndjson', '--loopback'],
      files: {
        'day.ndjson': `{"evil${HOSTILE}": \n{"type":"track","evil${HOSTILE}":1}\n{"type":"evil\\u001b[2J\u009b"}\n`,
      },
    },
    {
      what: 'replay, of a filter',
      args: ['replay', 'day.ndjson', '--loopback', '--filter', FILE],
      files: { 'day.ndjson': EVIL_BODY },
    },
    {
      what: 'verify, of a body',
      isKeptBack: true,
      args: ['verify', '--secret', SECRET, '--signature', `evil${FILE}`],
      stdin: EVIL_BODY,
    },
    {
      what: 'verify, of a request',
      isKeptBack: true,
      args: ['verify', '--secret', SECRET],
      stdin: `POST /evil HTTP/1.1\r\nX-Signature: ${IN_A_HEADER}\r\nContent-Length: ${Buffer.byteLength(EVIL_BODY)}\r\n\r\n${EVIL_BODY}`,
    },
    {
      what: 'verify, of a capture',
      isKeptBack: true,
      args: ['verify', '--secret', SECRET],
      stdin: JSON.stringify({
        capture: 1,
        method: 'POST',
        url: HOSTILE,
        headers: [['X-Signature', HOSTILE]],
        body: EVIL_BODY,
      }),
    },
    {
      what: 'verify, of a file that is not there',
      args: ['verify', '--secret', SECRET, '--signature', 'a', FILE],
    },
    { what: 'sign, of a file that is not there', args: ['sign', '--secret', SECRET, FILE] },
    { what: 'config', args: ['config'], files: { '.hooksrc.json': EVIL_CONFIG } },
    {
      what: 'config, of an unknown key',
      args: ['config'],
      files: { '.hooksrc.json': JSON.stringify({ [HOSTILE]: 1 }) },
    },
    { what: 'config, of a file that is not there', args: ['config', '-c', FILE] },
    { what: 'doctor', args: ['doctor'], files: { '.hooksrc.json': EVIL_CONFIG } },
    {
      what: 'doctor, of an unknown key',
      args: ['doctor'],
      files: { '.hooksrc.json': JSON.stringify({ [HOSTILE]: 1 }) },
    },
    { what: 'doctor, of a variable', args: ['doctor'], env: { HTTPS_PROXY: `evil:${FILE}` } },
    {
      what: 'send, of the name of a source',
      args: ['send', 'track', '--event', 'a', '--source', FILE, '--loopback'],
    },
    { what: 'init', args: ['init', '--url', `evil${FILE}`] },
    { what: 'init, of a file name', args: ['init', `${FILE}.yaml`] },
    { what: 'queue show', args: ['queue', 'show', FILE] },
    { what: 'queue list', args: ['queue', 'list', '--since', FILE] },
    { what: 'serve', isKeptBack: true, args: ['serve', '--host', FILE, '--port', '0'] },
    { what: 'expect, of a filter', args: ['expect', '--match', FILE, '--', 'true'] },
    { what: 'expect, of a command', args: ['expect', '--count', '0', '--', FILE] },
    {
      what: 'expect, of what a command prints',
      args: [
        'expect',
        '--count',
        '0',
        '--',
        process.execPath,
        '-e',
        `process.stdout.write(${JSON.stringify(HOSTILE)})`,
      ],
    },
    { what: 'test', args: ['test', `evil:${FILE}`] },
    { what: 'a command that there is not', args: [FILE] },
    { what: 'help of a command that there is not', args: ['help', FILE] },
    { what: 'a flag that there is not', args: ['send', `--${FILE}`] },
    { what: 'a choice that there is not', isKeptBack: true, args: ['config', '-o', FILE] },
    { what: 'a value that is none', args: ['listen', '--port', FILE] },
    { what: 'an argument too many', isKeptBack: true, args: ['config', FILE] },
    {
      what: 'a report without a format',
      args: ['replay', 'day.ndjson', '--loopback', '--report', FILE],
      files: { 'day.ndjson': EVIL_BODY },
    },
    { what: 'a script of answers', args: ['listen', '--respond', FILE] },
  ];

  it.concurrent.each(cases)(
    '$what',
    async ({ args: [verb = '', ...args], files = {}, stdin = '', env = {}, isKeptBack }) => {
      const cwd = temporaryFolder(files);
      for (const output of OUTPUTS) {
        const result = await hooks([verb, ...output, ...args], {
          cwd,
          stdin,
          env: { HOOKS_DATA_DIR: join(cwd, 'data'), ...env },
        });
        expect(result.signal).toBeNull();
        expectHarmless(result);
        if (!output.includes('json') && isKeptBack === undefined) expectShown(result);
      }
    },
  );

  it.concurrent.each([301, 404, 500])('what a receiver responds with %d', async (status) => {
    const url = await hostileReceiver(status);
    const cwd = temporaryFolder({ 'day.ndjson': `${EVIL_BODY}\n` });
    for (const output of OUTPUTS) {
      const to = ['--url', url, ...ONE_ROUND, ...output];
      for (const args of [
        ['send', 'track', '--event', 'a'],
        ['replay', 'day.ndjson'],
      ]) {
        const result = await hooks([...args, ...to], { cwd });
        expect(result.code).toBe(1);
        expectHarmless(result);
        if (status !== 301 && !output.includes('json')) expectShown(result);
      }
    }
    const tracking = await hooks([
      'send',
      'track',
      '--event',
      'a',
      '--endpoint',
      url,
      '--write-key',
      'k',
      ...ONE_ROUND,
    ]);
    expect(tracking.code).toBe(1);
    expectHarmless(tracking);
    expectHarmless(await hooks(['test', url, '--secret', SECRET, '--only', 'track,unsigned']));
  });

  it.concurrent.each(OUTPUTS.map((output) => ({ output })))(
    'what comes to listen and expect, $output',
    async ({ output }) => {
      const poster = `
      const post = (body, headers) => fetch(process.env.HOOKS_URL + '/evil\\u009b', { method: 'POST', body, headers });
      const body = ${JSON.stringify(EVIL_BODY)};
      Promise.all([post(body, {}), post(body, { 'x-signature': '\\u009bevil' }), post('no JSON ' + body, { 'x-signature': 'a' })]);
    `;
      const expected = ['--count', '3', '--match', 'event=evil,userId=x', '--secret', SECRET];
      const result = await hooks(['expect', ...expected, ...output, '--', process.execPath, '-e', poster]);
      expect(result.code).toBe(1);
      expectHarmless(result);
      expectShown(result);

      const listening = startHooks(['listen', '--port', '0', '--secret', SECRET, '--count', '9', ...output]);
      const [url = ''] = /http:\/\/[\d.:]+/.exec(String((await listening.lines.next()).value)) ?? [];
      for (const signature of ['', 'evil', IN_A_HEADER]) {
        const headers = { 'x-signature': signature, 'user-agent': IN_A_HEADER };
        expect((await fetch(`${url}/evil%1b`, { method: 'POST', body: EVIL_BODY, headers })).status).toBe(
          200,
        );
      }
      const heard = await listening.stop();
      expectHarmless(heard);
      expectShown(heard);
    },
  );

  it.concurrent('what waits in a queue, what a worker and a service say of it', async () => {
    const url = await hostileReceiver(404);
    const config = { webhooks: [url], writeKey: 'key', sharedSecret: SECRET };
    const cwd = temporaryFolder({ '.hooksrc.json': JSON.stringify(config), 'day.ndjson': `${EVIL_BODY}\n` });
    const place = { cwd, env: { HOOKS_DATA_DIR: join(cwd, 'data') } };
    expectHarmless(await hooks(['replay', 'day.ndjson', '--queue'], place));
    const serving = startHooks(['serve', '--port', '0', '--no-deliver', '-v'], place);
    const [service = ''] = /http:\/\/[\d.:]+/.exec(String((await serving.lines.next()).value)) ?? [];
    const authorization = `Basic ${Buffer.from('key:').toString('base64')}`;
    const calls = [
      EVIL_BODY,
      `{"userId":"evil${HOSTILE}`,
      JSON.stringify({ batch: [EVIL_MESSAGE, { type: HOSTILE }] }),
    ];
    for (const [index, body] of calls.entries()) {
      const path = index === 2 ? '/v1/batch' : '/v1/track';
      await fetch(service + path, {
        method: 'POST',
        body,
        headers: { authorization, 'user-agent': IN_A_HEADER },
      });
      await fetch(`${service}/evil%1b%c2%9b`, { method: 'POST', body });
    }
    expectHarmless(await serving.stop('SIGTERM'));

    for (const output of OUTPUTS) {
      const listed = await hooks(['queue', 'list', ...output], place);
      expectHarmless(listed);
      expectShown(listed);
      expectHarmless(await hooks(['queue', 'stats', ...output], place));
    }
    const worker = startHooks(['worker', '--allow-private'], place);
    await worker.lines.next();
    const worked = await worker.stop('SIGTERM');
    expectHarmless(worked);
    expectShown(worked);
    const { stdout } = await hooks(['queue', 'list', '--state', 'dead', '-o', 'json'], place);
    const ids = stdout
      .split('\n')
      .flatMap((line) => (line === '' ? [] : [(JSON.parse(line) as { id: string }).id]));
    expect(ids.length).toBeGreaterThan(1);
    for (const output of OUTPUTS) {
      for (const id of ids) {
        const shown = await hooks(['queue', 'show', id, ...output], place);
        expectHarmless(shown);
        expectShown(shown);
      }
      expectHarmless(
        await hooks(['delete', HOSTILE.replaceAll('\u0000', ''), ...ONE_ROUND.slice(2), ...output], place),
      );
    }
  });
});

/** A person's terminal is no place for these either. */
describe('a server that redirects with hostile text', () => {
  it('is told of harmlessly', async () => {
    const server: Server = createServer((_, response) => {
      response.writeHead(302, { location: `http://evil/${encodeURI(HOSTILE)}` }).end();
    });
    server.listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const result = await hooks([
      'send',
      'track',
      '--event',
      'a',
      '--url',
      `http://127.0.0.1:${port}`,
      ...ONE_ROUND,
    ]);
    server.close();
    expect(result.code).toBe(1);
    expectHarmless(result);
  });
});
