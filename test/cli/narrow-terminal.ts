import stringWidth from 'fast-string-width';
import { readFileSync } from 'node:fs';
import { GUIDES } from '../../src/cli/help/guide.ts';
import { answers } from '../hostile-receivers.ts';

export const LONG_PATH = '/webhook/of/a/receiver/with/a/rather/long/path/that/no/narrow/terminal/shows';
export const EVENTS = ['Signup', '注文完了した', '🎉 party of a team', 'Order Completed with a long name'];

/** Commands to run at each width, in place of whose ID and URL the tests put those of a delivery and a receiver. */
export const COMMANDS = [
  '',
  'nonsense',
  ...GUIDES.map((topic) => `help ${topic}`),
  'send track --event x --user-id u --loopback',
  'send trak',
  'test URL --only track,unsigned,tampered --timeout 30s',
  'test --list',
  'expect --count 1 --each event=Sigmup -- node sender.js',
  'queue list',
  'queue stats',
  'queue show ID',
  'queue retry --all --dry-run',
  'queue purge --dry-run',
  'queue drop none',
  'queue move --to nonsense://x',
  'queue recover none.db --to new.db',
  'config',
  'doctor',
  'audience sync vip vip.csv --dry-run',
  'audience list',
  'audience show vip',
  'trait sync plan values.csv --dry-run',
  'delete u1 --dry-run',
  'verify capture.json --secret hooks-fixture-secret',
  'verify body.json --secret s --signature x',
  'sign body.json --scheme standard-webhooks --secret s3cret',
  'serve',
  'worker',
  'completion',
  'listen --port 70000',
];

/** The files that the commands read. */
export const FILES = {
  'day.ndjson': [
    ...EVENTS.map((event) => JSON.stringify({ type: 'track', event, userId: '使用者-1' })),
    '{"type":"track","event":7,"userId":"u"}',
  ].join('\n'),
  'values.csv': 'userId,value\nu1,pro\n使用者-2,free\n',
  'body.json': '{"type":"track","event":"Signup","userId":"u1","properties":{"a":1}}\n',
  'capture.json': readFileSync(new URL('../../fixtures/captures/track.json', import.meta.url), 'utf8'),
  'vip.csv': 'userId\nu1\n使用者-2\n',
  'sender.js': `await fetch(process.env.HOOKS_URL, { method: 'POST', body: '{"type":"track","event":"Signup","userId":"u"}' });`,
};

/** Starts a receiver that rejects everything, with a sentence that is longer than a line. */
export async function startRejecting(): Promise<{
  readonly url: string;
  readonly close: () => Promise<void>;
}> {
  const body = `there is nothing here, ${'look elsewhere '.repeat(9)}`;
  const receiver = await answers(404, { body });
  return { url: new URL(LONG_PATH, receiver.url).href, close: () => receiver.close() };
}

/** Bodies and headers, which are not wrapped, so that they can be copied. */
export const COPIED = /^ {2}(?:body .*|\{.*\})$|^X-[\w-]+: .*$/gm;

/** Lines that are too wide. Ignores a line with a single word that is not a URL, and the path of a page, which is copied. */
export function tooWide(text: string, columns: number): string[] {
  return text
    .split('\n')
    .filter((line) => stringWidth(line) > columns && !line.startsWith('The whole page: '))
    .filter((line) => line.trim().includes(' ') || line.includes('://'));
}

/** A duration. Its unit too differs from run to run: one screen says "59 s", the next "1 min". */
const DURATION = /\S*\d\s+(?:ms|s|min|h|days?)\b\S*/g;

/** Words that the wide output does not have. Words with digits differ from run to run, and an ellipsis stands for omitted text. */
export function brokenWords(narrow: string, wide: string): string[] {
  const whole = new Set(wordsOf(wide));
  return wordsOf(narrow).filter((word) => !whole.has(word) && !/[…\d]/.test(word) && word !== '\\');
}

function wordsOf(text: string): string[] {
  return text.replaceAll(DURATION, '').split(/\s+/);
}

/** A line of heads of columns, such as `STATE   ID  EVENT`. */
const HEADS = /^[A-Z]{2,}(?: [A-Z→]+)*(?: {1,}[A-Z]{2,}(?: [A-Z→]+)*)+$/;

/**
 * The heads of tables below which a line has a text that begins neither at the start of the head nor ends at its end. A wide
 * character takes two columns.
 */
export function headsOff(text: string): string[] {
  const lines = text
    .split('\n')
    .map((line) =>
      Array.from(line.trimEnd(), (each) => (stringWidth(each) === 2 ? [each, ''] : [each])).flat(),
    );
  const off = new Set<string>();
  for (const [index, heads] of lines.entries()) {
    if (!HEADS.test(heads.join(''))) continue;
    const end = lines.findIndex((line, at) => at > index && line.length === 0);
    for (const row of lines.slice(index + 1, end === -1 ? undefined : end)) {
      if (row[0] === ' ') continue; // goes on from the line before
      for (const { 0: head, index: from } of heads.join('').matchAll(/\S+(?: \S+)*/g)) {
        if (!isAt(row, from, from + head.length)) off.add(head);
      }
    }
  }
  return [...off];
}

/** Whether a row has a text that begins at `from` or ends before `to`, or none there. */
function isAt(row: readonly string[], from: number, to: number): boolean {
  const isFree = (at: number): boolean => (row[at] ?? ' ') === ' ';
  const begins = isFree(from - 1) && !isFree(from);
  const ends = isFree(to) && !isFree(to - 1);
  const isEmpty = row.slice(from, to).every((each) => each === ' ');
  return begins || ends || isEmpty;
}
