import { join } from 'node:path';
import { afterAll, describe, expect, it } from 'vitest';
import { answers, answersBytes } from '../hostile-receivers.ts';
import type { HostileReceiver } from '../raw-receiver.ts';
import { started } from '../transport/sending.ts';
import { hooks, startHooks, type HooksResult } from '../cli/run-in-process.ts';
import { EVIL_BODY, EVIL_MESSAGE, expectHarmless, HOSTILE } from './hostile-message.ts';
import { argv } from './argv.ts';
import { nextUrl } from './running-command.ts';
import { basic } from '../service/serving.ts';
import { jsonLines, SECRET } from './receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const SEND = ['send', 'track', '--event', 'Signup', '--user-id', 'u1'];

/** Hostile text that HTTP allows in a header: latin1 without C0 controls. */
const IN_A_HEADER = 'evil\u009b2J\u0085';

/** Expects the output to show the hostile text. Without it, a harmless output proves nothing. */
function expectShown({ stdout, stderr }: Pick<HooksResult, 'stdout' | 'stderr'>): void {
  expect(stdout + stderr).toContain('evil');
}

const receivers: HostileReceiver[] = [];
afterAll(() => Promise.all(receivers.map((receiver) => receiver.close())));

/** Starts a receiver with hostile responses, from the reason phrase to the body. */
async function hostileReceiver(status: number): Promise<string> {
  const body = `${HOSTILE}\n${HOSTILE}`;
  const head = `HTTP/1.1 ${status} ${IN_A_HEADER}\r\nlocation: http://x/${IN_A_HEADER}\r\nretry-after: ${IN_A_HEADER}\r\nx-a: ${IN_A_HEADER}`;
  const bytes = `${head}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nconnection: close\r\n\r\n`;
  const receiver = await answersBytes(
    Buffer.concat([Buffer.from(bytes, 'latin1'), Buffer.from(body)]).toString('binary'),
  );
  receivers.push(receiver);
  return receiver.url;
}

/** With -v, which shows everything, also stack traces. */
const OUTPUTS: readonly (readonly string[])[] = [['-v'], ['-v', '-o', 'json']];

interface Case {
  readonly what: string;
  readonly args: readonly string[];
  readonly files?: Readonly<Record<string, string>>;
  readonly stdin?: string;
  readonly env?: Readonly<Record<string, string>>;
  /** Whether the output does not show the text at all. */
  readonly isKeptBack?: true;
}

/** Files in the folder of every case. */
const FILES = { 'message.json': EVIL_BODY, 'day.ndjson': `${EVIL_BODY}\n` };
const ONE_ROUND = ['--retry-for', '0'];
const NO_NUL = HOSTILE.replaceAll('\u0000', '');
/** Without the NUL and the slash, which no file name contains. */
const FILE = NO_NUL.slice(0, 60);
const EVIL_WEBHOOK = {
  url: `http://127.0.0.1:9/${HOSTILE}`,
  headers: { 'X-A': HOSTILE.replaceAll(/[\r\n]/g, '') },
};
const EVIL_SOURCE = { destinations: { [HOSTILE]: { webhooks: [EVIL_WEBHOOK] } } };
const EVIL_CONFIG = JSON.stringify({ sources: { [HOSTILE]: EVIL_SOURCE } });
const EVIL_REQUEST = { capture: 1, method: 'POST', url: HOSTILE, headers: [['X-Signature', HOSTILE]] };

describe('hostile text never reaches the terminal raw', () => {
  const cases: readonly Case[] = [
    {
      what: 'the flags of send',
      args: argv`send track --event ${NO_NUL} --user-id ${'evil\u001b[2J'} --loopback`,
    },
    { what: 'the message of send', args: ['send', '--json', '@message.json', '--loopback'] },
    {
      what: 'the message of send --dry-run',
      args: ['send', '--json', '@message.json', '--url', 'http://127.0.0.1:9/', '--dry-run'],
    },
    {
      what: 'an invalid message of send',
      isKeptBack: true,
      args: ['send', '--json', `{"type":"evil${NO_NUL}"}`, '--loopback'],
    },
    { what: 'the missing file of send', args: ['send', '--json', `@${FILE}`, '--loopback'] },
    { what: 'the URL of send', args: ['send', 'track', '--event', 'a', '--url', `evil:${FILE}`] },
    {
      what: 'a header of send',
      isKeptBack: true,
      args: ['send', 'track', '--event', 'a', '--url', 'http://127.0.0.1:9', '--header', `X-A: ${FILE}`],
    },
    { what: 'the messages of replay', args: ['replay', 'day.ndjson', '--loopback'] },
    {
      what: 'the file name of replay',
      args: ['replay', FILE, '--loopback'],
      files: { [FILE]: `${EVIL_BODY}\n{"type":"x"}\n` },
    },
    { what: 'the missing file of replay', args: ['replay', FILE, '--loopback'] },
    {
      what: 'malformed entries of replay',
      args: ['replay', 'day.ndjson', '--loopback'],
      files: {
        'day.ndjson': `{"evil${HOSTILE}": \n{"type":"track","evil${HOSTILE}":1}\n{"type":"evil\\u001b[2J\u009b"}\n`,
      },
    },
    { what: 'the filter of replay', args: ['replay', 'day.ndjson', '--loopback', '--filter', FILE] },
    {
      what: 'the body of verify',
      isKeptBack: true,
      args: ['verify', '--secret', SECRET, '--signature', `evil${FILE}`],
      stdin: EVIL_BODY,
    },
    {
      what: 'the request of verify',
      isKeptBack: true,
      args: ['verify', '--secret', SECRET],
      stdin: `POST /evil HTTP/1.1\r\nX-Signature: ${IN_A_HEADER}\r\nContent-Length: ${Buffer.byteLength(EVIL_BODY)}\r\n\r\n${EVIL_BODY}`,
    },
    {
      what: 'the capture of verify',
      isKeptBack: true,
      args: ['verify', '--secret', SECRET],
      stdin: JSON.stringify({ ...EVIL_REQUEST, body: EVIL_BODY }),
    },
    { what: 'the missing file of verify', args: ['verify', '--secret', SECRET, '--signature', 'a', FILE] },
    { what: 'the missing file of sign', args: ['sign', '--secret', SECRET, FILE] },
    { what: 'a config, shown by config', args: ['config'], files: { '.hooksrc.json': EVIL_CONFIG } },
    {
      what: 'an unknown key, shown by config',
      args: ['config'],
      files: { '.hooksrc.json': JSON.stringify({ [HOSTILE]: 1 }) },
    },
    { what: 'the missing file of config', args: ['config', '-c', FILE] },
    { what: 'a config, shown by doctor', args: ['doctor'], files: { '.hooksrc.json': EVIL_CONFIG } },
    {
      what: 'an unknown key, shown by doctor',
      args: ['doctor'],
      files: { '.hooksrc.json': JSON.stringify({ [HOSTILE]: 1 }) },
    },
    { what: 'a variable, shown by doctor', args: ['doctor'], env: { HTTPS_PROXY: `evil:${FILE}` } },
    { what: 'the name of a source', args: ['send', 'track', '--event', 'a', '--source', FILE, '--loopback'] },
    { what: 'the URL of init', args: ['init', '--url', `evil${FILE}`] },
    { what: 'the file name of init', args: ['init', `${FILE}.yaml`] },
    { what: 'the id of queue show', args: ['queue', 'show', FILE] },
    { what: 'the time of queue list', args: ['queue', 'list', '--since', FILE] },
    { what: 'the host of serve', isKeptBack: true, args: ['serve', '--host', FILE, '--port', '0'] },
    { what: 'the filter of expect', args: ['expect', '--match', FILE, '--', 'true'] },
    { what: 'the command of expect', args: ['expect', '--count', '0', '--', FILE] },
    {
      what: 'the output of the command of expect',
      args: argv`expect --count 0 -- node -e ${`process.stdout.write(${JSON.stringify(HOSTILE)})`}`,
    },
    { what: 'the URL of test', args: ['test', `evil:${FILE}`] },
    { what: 'an unknown command', args: [FILE] },
    { what: 'help for an unknown command', args: ['help', FILE] },
    { what: 'an unknown flag', args: ['send', `--${FILE}`] },
    { what: 'an unknown choice', isKeptBack: true, args: ['config', '-o', FILE] },
    { what: 'an invalid value', args: ['listen', '--port', FILE] },
    { what: 'a surplus argument', isKeptBack: true, args: ['config', FILE] },
    { what: 'a report without a format', args: ['replay', 'day.ndjson', '--loopback', '--report', FILE] },
    { what: 'a script of responses', args: ['listen', '--respond', FILE] },
  ];

  it.concurrent.each(cases)(
    'from $what',
    async ({ args: [verb = '', ...args], files = {}, stdin = '', env = {}, isKeptBack }) => {
      const cwd = temporaryFolder({ ...FILES, ...files });
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

  it.concurrent.each([301, 404, 500])('from the response of a receiver with %d', async (status) => {
    const url = await hostileReceiver(status);
    const cwd = temporaryFolder(FILES);
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
    const tracking = await hooks([...SEND, '--endpoint', url, '--write-key', 'k', ...ONE_ROUND]);
    expect(tracking.code).toBe(1);
    expectHarmless(tracking);
    expectHarmless(await hooks(['test', url, '--secret', SECRET, '--only', 'track,unsigned']));
  });

  it.concurrent.each(OUTPUTS.map((output) => ({ output })))(
    'from requests to listen and expect, $output',
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
      const url = await nextUrl(listening);
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

  it.concurrent('from deliveries in a queue, and the logs of worker and serve about them', async () => {
    const url = await hostileReceiver(404);
    const config = { webhooks: [url], writeKey: 'key', sharedSecret: SECRET };
    const cwd = temporaryFolder({ ...FILES, '.hooksrc.json': JSON.stringify(config) });
    const place = { cwd, env: { HOOKS_DATA_DIR: join(cwd, 'data') } };
    expectHarmless(await hooks(['replay', 'day.ndjson', '--queue'], place));
    const serving = startHooks(['serve', '--port', '0', '--no-deliver', '-v'], place);
    const service = await nextUrl(serving);
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
        headers: { ...basic('key'), 'user-agent': IN_A_HEADER },
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
    const ids = jsonLines(stdout).map(({ id }) => String(id));
    expect(ids.length).toBeGreaterThan(1);
    for (const output of OUTPUTS) {
      for (const id of ids) {
        const shown = await hooks(['queue', 'show', id, ...output], place);
        expectHarmless(shown);
        expectShown(shown);
      }
      expectHarmless(await hooks(['delete', NO_NUL, ...ONE_ROUND.slice(2), ...output], place));
    }
  });
});

it('a redirect with hostile text in its Location is reported harmlessly', async () => {
  const headers = [`Location: http://evil/${encodeURI(HOSTILE)}`];
  const { url } = await started(answers(302, { headers }));
  const result = await hooks([...SEND, '--url', url, ...ONE_ROUND]);
  expect(result.code).toBe(1);
  expectHarmless(result);
});
