import { appendFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { systemClock } from '../../src/clock.ts';
import { commandEscaper } from '../../src/redact.ts';
import { openDurableQueue } from '../../src/stores/open.ts';
import { SECRET, jsonLines, receiving, track } from '../end-to-end/receiving.ts';
import { listeningBy } from '../end-to-end/listening-by.ts';
import { nextUrl } from '../end-to-end/running-command.ts';
import { basic } from '../service/serving.ts';
import { started } from '../transport/sending.ts';
import { answersBytes } from '../hostile-receivers.ts';
import { newDelivery } from '../queue/new-delivery.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { COMMANDS, RUNNERS, obeyed, textsIn } from './foreign-commands.ts';
import { hooks, startHooks, type HooksResult } from './run-in-process.ts';

const OUTPUTS = [['-v'], ['-v', '-o', 'json']] as const;
/** One command of each kind, for values that must be a single line. */
const [GITHUB = '', , GITLAB = '', , AZURE = '', TEAMCITY = ''] = COMMANDS;
const LINE = `${GITHUB} ${GITLAB} ${AZURE} ${TEAMCITY}`;
const AT_START = '    ::stop-commands::x';
const NAMES = [LINE, '::warning::x'];
const DAY = COMMANDS.map((event, index) => `${track(index, { event, userId: event })}\n`).join('');
const MEMBERS = `${COMMANDS.map((id) => JSON.stringify({ userId: id })).join('\n')}\n`;

/** The annotations of hooks, which a runner should process. */
const ANNOTATION = /^::error (?:file=[^:]*,)?(?:line=\d+,)?title=hooks [^:]*::/;

function expectHarmless({ stdout, stderr }: Pick<HooksResult, 'stdout' | 'stderr'>): void {
  expect(obeyed(stdout)).toEqual([]);
  const lines = stderr.split('\n').map((line) => line.replace(ANNOTATION, ''));
  expect(obeyed(lines.join('\n'))).toEqual([]);
}

/** Runs a command under all runners, with text and with JSON output. Returns the lines of JSON. */
async function bothWays(args: readonly string[], { stdin = '' } = {}): Promise<Record<string, unknown>[]> {
  let lines: Record<string, unknown>[] = [];
  const [verb = '', ...others] = args;
  for (const output of OUTPUTS) {
    const result = await hooks([verb, ...output, ...others], { cwd, env, stdin });
    expectHarmless(result);
    if (output.length > 1) lines = jsonLines(result.stdout);
  }
  return lines;
}

let cwd: string;
let env: Record<string, string>;
beforeEach(() => {
  const config = { webhooks: ['http://127.0.0.1:9'], sharedSecret: SECRET, writeKey: 'key' };
  cwd = temporaryFolder({
    'day.ndjson': DAY,
    'one.json': track(1, { event: LINE, properties: { [AT_START]: AT_START } }),
    'members.ndjson': MEMBERS,
    'body.txt': `{"a":"${LINE}"\n${AT_START}\r${AT_START}`,
    'schemas.json': JSON.stringify({ [LINE]: { required: [LINE] } }),
    '.hooksrc.json': JSON.stringify(config),
  });
  env = { ...RUNNERS, HOOKS_DATA_DIR: join(cwd, 'data') };
});

describe('text from outside never becomes a workflow command of a CI runner', () => {
  it('although the runner would run all of these texts', () => {
    for (const command of COMMANDS) expect(obeyed(command), JSON.stringify(command)).not.toEqual([]);
  });

  it.each([
    ['send', '--json', '@one.json', '--loopback'],
    ['send', '--json', '@one.json', '--url', 'http://127.0.0.1:9', '--dry-run'],
    ['send', 'track', '--event', LINE, '--user-id', AT_START, '--loopback'],
    ['send', '--json', `@${LINE}`, '--loopback'],
    ['replay', 'day.ndjson', '--loopback'],
    ['replay', 'day.ndjson', '--url', 'http://127.0.0.1:9', '--retry-for', '0'],
    ['replay', LINE, '--loopback'],
    ['replay', 'body.txt', '--loopback'],
    ['replay', 'day.ndjson', '--loopback', '--filter', LINE],
    ['verify', '--secret', SECRET, '--signature', LINE, 'body.txt'],
    ['verify', '--secret', SECRET, LINE],
    ['sign', '--secret', SECRET, LINE],
    ['audience', 'sync', LINE, 'members.ndjson', '--dry-run'],
    ['audience', 'sync', LINE, 'members.ndjson', '--retry-for', '0'],
    ['audience', 'show', LINE],
    ['trait', 'sync', LINE, 'members.ndjson', '--retry-for', '0'],
    ['delete', LINE, '--retry-for', '0'],
    ['delete', AT_START, '--dry-run'],
    ['queue', 'show', LINE],
    ['config', '-c', LINE],
    ['doctor', '-c', LINE],
    ['init', `${LINE}.yaml`],
    ['listen', '--port', LINE],
    ['serve', '--host', LINE, '--port', '0'],
    ['expect', '--count', '0', '--match', LINE, '--', 'true'],
    ['expect', '--count', '0', '--', LINE],
    ['test', `http://127.0.0.1:9/${LINE}`],
    ['test', 'http://127.0.0.1:9', '--state', `printf '${AT_START}'; exit 1`, '--reset', 'true'],
    ['test', 'http://127.0.0.1:9', '--capture', LINE],
    ['help', LINE],
    ['config', `--${LINE}`],
    [LINE],
  ])('%s, case %#', async (...args) => {
    await bothWays(args);
  });

  it('verify, with a body that does not verify', async () => {
    await bothWays(['verify', '--secret', SECRET, '--signature', 'a'.repeat(40)], {
      stdin: `POST /${LINE} HTTP/1.1\r\nX-A: ${LINE}\r\nContent-Length: 2\r\n\r\n{}`,
    });
  });

  it.each([200, 404, 500])('a response with status %d', async (status) => {
    const body = `${AT_START}\n${LINE}\r${AT_START}\n${COMMANDS.join('\n')}`;
    const head = `HTTP/1.1 ${status} ${LINE}\r\ncontent-length: ${Buffer.byteLength(body)}\r\nx-a: ${LINE}\r\n`;
    const answer = Buffer.concat([Buffer.from(`${head}connection: close\r\n\r\n`), Buffer.from(body)]);
    const { url } = await started(answersBytes(answer.toString('binary')));
    const to = ['--url', url, '--retry-for', '0'];
    await bothWays(['send', 'track', '--event', LINE, ...to]);
    await bothWays(['replay', 'one.json', ...to]);
    await bothWays(['replay', 'one.json', '--endpoint', url, '--write-key', 'k', '--retry-for', '0']);
    await bothWays(['test', url, '--secret', SECRET, '--only', 'track,unsigned']);
  });

  it('the state of a receiver that is not idempotent', async () => {
    const file = join(cwd, 'state.txt');
    const onRequest = (): void => appendFileSync(file, `${AT_START}\n${LINE}\n`);
    const { url } = await receiving({ secret: SECRET, onRequest });
    const state = ['--state', `[ ! -f ${file} ] || exec cat ${file}`, '--reset', `rm -f ${file}`];
    const lines = await bothWays(['test', url, '--secret', SECRET, ...state, '--only', 'twice']);
    expect(lines.flatMap(textsIn).join('\n')).toContain(LINE);
  });

  it('requests to listen, whose JSON keeps its meaning', async () => {
    for (const output of OUTPUTS) {
      const listen = await listeningBy(startHooks, ['--secret', SECRET, ...output.slice(0, 1)], { env });
      for (const event of COMMANDS) {
        await listen.post(track(1, { event, userId: event }), { 'user-agent': LINE });
        const texts = textsIn(await listen.nextLine());
        expect(texts).toContain(event);
      }
      expectHarmless(await listen.stop());
    }
    const text = startHooks(['listen', '--port', '0', '-v'], { env });
    const url = await nextUrl(text);
    for (const event of COMMANDS) {
      await fetch(`${url}/${encodeURIComponent(LINE)}`, { method: 'POST', body: track(1, { event }) });
      await fetch(url, { method: 'POST', body: `${AT_START}\n${event}\n${AT_START}` });
    }
    expectHarmless(await text.stop());
  });

  it('requests to expect, and its expectations', async () => {
    const post = `fetch(process.env.HOOKS_URL, { method: 'POST', body: ${JSON.stringify(track(1, { event: LINE, properties: { a: AT_START } }))} })`;
    const expected = ['--messages', '1', '--each', `event=${AT_START}`, '--schema', 'schemas.json'];
    await bothWays(['expect', ...expected, '--', process.execPath, '-e', post]);
  });

  it('deliveries in a queue, and the logs of serve and worker', async () => {
    const dataDir = env['HOOKS_DATA_DIR'] ?? '';
    const store = await openDurableQueue({ store: undefined, dataDir, clock: systemClock });
    const body = Buffer.from(track(1, { event: LINE }));
    for (const [index, name] of NAMES.entries()) {
      const dead = { state: 'dead', reason: 'exhausted', createdAt: systemClock.now() } as const;
      const of = { source: name, destination: name, messageId: name, type: name, body };
      await store.queue.add([newDelivery(`${name}${index}`, { ...dead, ...of })]);
    }
    await store.close();
    const texts = (await bothWays(['queue', 'list'])).flatMap(textsIn);
    expect(texts).toEqual(expect.arrayContaining([...NAMES]));
    await bothWays(['queue', 'stats']);
    for (const [index, name] of NAMES.entries()) {
      const shown = await bothWays(['queue', 'show', `${name}${index}`]);
      expect(shown.flatMap(textsIn).join('\n')).toContain(LINE);
    }
    const exported = await hooks(['queue', 'export'], { cwd, env });
    expect(exported.stdout).toContain(GITHUB);
    await bothWays(['queue', 'retry', ...NAMES.map((name, index) => `${name}${index}`)]);
    const serving = startHooks(['serve', '--port', '0', '--allow-private', '-v'], { cwd, env });
    const url = await nextUrl(serving);
    const headers = { ...basic('key'), 'user-agent': LINE };
    await fetch(`${url}/${encodeURIComponent(LINE)}`, { method: 'POST', headers });
    for (const call of [DAY.split('\n')[0] ?? '', `{"a${LINE}`, JSON.stringify({ type: AT_START })]) {
      await fetch(`${url}/v1/track`, { method: 'POST', headers, body: call });
    }
    await until(() => serving.stderr().includes('400'), 'the log of a call');
    expectHarmless(await serving.stop('SIGTERM'));
    await bothWays(['queue', 'drop', '--all', '--yes']);
  });

  it('names in a config', async () => {
    const destination = { webhooks: [`http://127.0.0.1:9/${encodeURIComponent(LINE)}`] };
    const sources = Object.fromEntries(
      NAMES.map((name) => [
        name,
        { destinations: Object.fromEntries(NAMES.map((each) => [each, destination])) },
      ]),
    );
    cwd = temporaryFolder({ '.hooksrc.json': JSON.stringify({ sources }) });
    const texts = (await bothWays(['config'])).flatMap(textsIn).join('\n');
    expect(texts).toContain(LINE);
    await bothWays(['doctor']);
    await bothWays(['delete', 'u1', '--retry-for', '0']);
  });
});

describe('a runner gets unchanged', () => {
  it('the annotations of hooks, which escape text from outside', async () => {
    const { stderr } = await hooks(['replay', LINE, '--loopback'], { cwd, env });
    const annotations = stderr.split('\n').filter((line) => ANNOTATION.test(line));
    expect(annotations).toHaveLength(1);
    expect(annotations.map((line) => line.replace(ANNOTATION, '')).flatMap(obeyed)).toEqual([]);
  });

  it('the annotations that COMMAND prints, at the start of their line', async () => {
    const printed = [
      '::error file=a.js,line=1::boom',
      '##[group]a',
      "##teamcity[testStarted name='x']",
      'no',
    ];
    const program = `console.log(${JSON.stringify(printed.join('\n'))})`;
    const command = ['--', process.execPath, '-e', program];
    const { stderr } = await hooks(['expect', '--count', '0', ...command], { cwd, env });
    expect(stderr.split('\n')).toEqual(expect.arrayContaining([...printed.slice(0, -1), '| no']));
    const receiver = `${program}; require('node:http').createServer((_, r) => r.end()).listen(process.env.PORT)`;
    const { url } = await receiving();
    const port = Number(new URL(url).port) - 1;
    const args = ['test', `http://127.0.0.1:${port}`, '--only', 'track'];
    const tested = await hooks([...args, '--', process.execPath, '-e', receiver], { cwd, env });
    expect(tested.stderr.split('\n')).toEqual(expect.arrayContaining(printed.slice(0, -1)));
  });

  it('data that a program reads: an export, a curl command', async () => {
    const args = ['send', '--json', '@one.json', '--url', 'http://127.0.0.1:9', '--curl'];
    const { stdout } = await hooks(args, { cwd, env });
    expect(stdout).toContain(GITHUB);
  });

  it('all output outside of a runner', async () => {
    const args = ['send', '--json', '@one.json', '--loopback', '-v', '-o', 'json'];
    const { stdout } = await hooks(args, { cwd });
    expect(stdout).toContain(GITHUB);
  });
});

describe('the escaper of workflow commands', () => {
  const escape = commandEscaper(RUNNERS);

  it('leaves no command in any text or JSON, and keeps the meaning of JSON', () => {
    for (const command of COMMANDS) {
      for (const text of [command, `a\n${command}`, `${command}${command}`, `#${command}`, `:${command}`]) {
        expect(obeyed(escape(text)), JSON.stringify(text)).toEqual([]);
        const json = escape(JSON.stringify({ [text]: [text] }));
        expect(obeyed(json)).toEqual([]);
        expect(JSON.parse(json)).toEqual({ [text]: [text] });
      }
    }
  });

  it.each(Object.entries(RUNNERS))('escapes only the commands of its own runner: %s', (name, value) => {
    const own = commandEscaper({ [name]: value });
    const count = COMMANDS.filter((command) => own(command) !== command).length;
    expect(count).toBeGreaterThan(0);
    expect(count).toBeLessThan(COMMANDS.length);
    expect(commandEscaper({ [name]: '' })(LINE)).toBe(LINE);
  });

  it('takes time linear in the length of the text', () => {
    for (const piece of ['\n', ' ', ':', '#', '#\u200b', '\u001b[', '\u001b[1m', ' :', '\n :']) {
      expect(escape(`${piece.repeat(200_000)}x`).length).toBeGreaterThan(200_000);
    }
  });
});
