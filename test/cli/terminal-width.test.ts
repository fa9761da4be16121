import stringWidth from 'fast-string-width';
import { beforeAll, afterAll, describe, expect, it } from 'vitest';
import { fitText } from '../../src/cli/fit-text.ts';
import { ageText } from '../../src/cli/verbs/queue/delivery-line.ts';
import { formatRow, formatTable } from '../../src/cli/print/table.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import {
  brokenWords,
  COMMANDS,
  COPIED,
  EVENTS,
  FILES,
  LONG_PATH,
  startRejecting,
  tooWide,
} from './narrow-terminal.ts';
import { hooks, startHooks } from './run-in-process.ts';

const VERBS =
  'send replay audience trait delete listen sign verify test expect serve worker queue init config doctor completion'.split(
    ' ',
  );
/** A width at which nothing is wrapped or shortened. */
const WIDE = 2_000;

describe.each([60, 80, 200])('at a terminal of %d columns', (columns) => {
  it.each([
    ...COMMANDS,
    'queue show none',
    'replay day.ndjson',
    'replay day.ndjson -q',
    'send track --event 注文完了した --user-id u',
    'send track',
    'send track --evnt x',
    'test URL --only track --scheme standard-webhooks',
    'send track --event x --user-id u --dry-run --curl --scheme nonsense',
    'verify capture.json --secret wrong',
    'verify body.json --secret wrong',
    'listen --filter event>>1',
    'init --for nonsense',
    'replay none.ndjson',
    'replay day.ndjson --loopback',
    ...['', ...VERBS].map((name) => `${name} --help`.trim()),
  ])('`hooks %s` breaks no word and writes no line that is wider', async (line) => {
    const [narrow, wide] = [await run(line, columns), await run(line, WIDE)];
    expect(narrow.trim()).not.toBe('');
    expect(tooWide(narrow, columns)).toEqual([]);
    expect(brokenWords(narrow, wide)).toEqual([]);
  });

  it('`hooks listen` breaks no word in the lines of requests', async () => {
    const shown = await Promise.all([columns, WIDE].map((width) => listened(width)));
    const [narrow = '', wide = ''] = shown;
    expect(narrow).toMatch(/unsigned/);
    expect(tooWide(narrow, columns)).toEqual([]);
    expect(brokenWords(narrow, wide)).toEqual([]);
  });
});

it('leaves lines unchanged without a terminal', async () => {
  const { stdout } = await hooks(['queue', 'list'], { cwd, env });
  const lines = stdout.trimEnd().split('\n');
  expect(lines).toHaveLength(EVENTS.length);
  for (const text of lines) {
    expect(text).toMatch(/^pending {11}\S{25} {2}track {5}\S{36} {2}default → Webhooks {2}20/);
  }
});

it('indents continuation lines to the text of a line, and keeps its colors', () => {
  const [text, ...columns] = ['one two three four five six', 29] as const;
  expect(fitText(`error: ${text}`, ...columns)).toBe('error: one two three four\n       five six');
  const colored = fitText(`\u001b[31merror:\u001b[39m ${text}`, ...columns);
  expect(colored).toBe('\u001b[31merror:\u001b[39m one two three four\n       five six');
  const wide = fitText('    wrong: 注文完了 しました 注文完了 た', 34);
  expect(wide).toBe('    wrong: 注文完了 しました\n           注文完了 た');
});

it('wraps a command so that a shell still reads it as one', () => {
  expect(fitText(`Try: hooks send track --event 'a long name' --url http://a.example`, 32)).toBe(
    `Try: hooks send track --event \\\n     'a long name' --url \\\n     http://a.example`,
  );
});

it('shortens a URL in its middle, in a column and in a sentence', () => {
  const url = `http://localhost:3000${LONG_PATH}`;
  expect(formatRow([{ text: 'to' }, { text: url, shortest: 10 }], { columns: 30 })).toBe(
    'to http://localh…erminal/shows',
  );
  const lines = fitText(`cannot connect to ${url}: refused`, 40).split('\n');
  expect(lines).toHaveLength(3);
  expect(lines[1]).toMatch(/^http:..localhost:3000.webhook.…al.shows:$/);
  expect(lines.every((text) => stringWidth(text) <= 40)).toBe(true);
});

it('aligns text after CJK and emoji', () => {
  const rows = EVENTS.map((text) => [{ text }, { text: '|' }]);
  const lines = formatTable(rows, { columns: 80 }).trimEnd().split('\n');
  expect(new Set(lines.map((text) => stringWidth(text.slice(0, text.indexOf('|'))))).size).toBe(1);
});

it.each([
  [-5, '0 s ago'],
  [59_999, '59 s ago'],
  [120_000, '2 min ago'],
  [7_200_000, '2 h ago'],
  [86_400_000, '1 day ago'],
  [200_000_000, '2 days ago'],
])('formats the age of %d ms', (ms, text) => {
  expect(ageText(ms)).toBe(text);
});

const cwd = temporaryFolder(FILES);
const env: Record<string, string> = { HOOKS_DATA_DIR: `${cwd}/data`, HOOKS_SECRET: 's3cret', NO_COLOR: '1' };
let rejecting: Awaited<ReturnType<typeof startRejecting>>;
let url = '';
let id = '';

beforeAll(async () => {
  rejecting = await startRejecting();
  url = rejecting.url;
  env['HOOKS_URL'] = url;
  for (const event of EVENTS) {
    const args = ['send', 'track', '--event', event, '--user-id', 'u', '--queue'];
    expect(await hooks(args, { cwd, env })).toMatchObject({ code: 0 });
  }
  await hooks(['audience', 'sync', 'vip', 'vip.csv', '--loopback'], { cwd, env });
  const { stdout } = await hooks(['queue', 'list', '-o', 'json'], { cwd, env });
  id = (JSON.parse(stdout.split('\n', 1)[0] ?? '') as { id: string }).id; // what -o json prints
});
afterAll(() => rejecting.close());

/** A progress bar, which other lines overwrite. */
// eslint-disable-next-line no-control-regex -- the sequences that a terminal obeys
const ERASED = /[^\r\n]*\r\u001b\[K/g;

async function run(line: string, terminalColumns: number): Promise<string> {
  const words = line.split(' ').filter((word) => word !== '');
  const args = words.map((word) => ({ ID: id, URL: url })[word] ?? word);
  const { stdout, stderr } = await hooks(args, { cwd, env, terminalColumns });
  return `${stdout}\n${stderr}`.replace(COPIED, '').replace(ERASED, '');
}

async function listened(terminalColumns: number): Promise<string> {
  const { lines, stop } = startHooks(['listen', '--port', '0'], { cwd, env, terminalColumns });
  const { value } = (await lines.next()) as { value: string }; // it is ready
  const target = value.split(' ').at(-1) ?? '';
  const body = JSON.stringify({
    type: 'track',
    event: '注文完了した that is long',
    userId: 'a-user-of-some-length',
  });
  await fetch(`${target}${LONG_PATH}`, { method: 'POST', body });
  const { stdout, stderr } = await stop();
  return `${stdout.replace(/^(?:Listening|Inbox).*$/gm, '')}\n${stderr}`;
}
