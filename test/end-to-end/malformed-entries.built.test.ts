import { describe, expect, it } from 'vitest';
import { MAX_MESSAGE_BYTES } from '../../src/message/limits.ts';
import { hooks } from '../cli/run-in-process.ts';
import { hooks as runBuilt } from './hooks.ts';
import { AT, jsonLines, receiving, sorted, summaryOf, track } from './receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const NESTED = `{"type":"track","userId":"u","event":"e","properties":${'['.repeat(100_000)}${']'.repeat(100_000)}}`;

/** Returns a message of this many bytes as JSON, which ends in a character of three bytes. */
function messageOf(bytes: number): string {
  const message = padded('x'.repeat(bytes - Buffer.byteLength(padded(''))));
  if (Buffer.byteLength(message) !== bytes) throw new Error('Expected a message of the size asked for');
  return message;
}

function padded(padding: string): string {
  return track('big', { properties: { text: `${padding}€` } });
}

/** Malformed entries, each with the column of the problem, the reason and the hint. */
const MALFORMED: Readonly<
  Record<string, readonly [entry: string | Uint8Array, column: string, reason: string, hint: string]>
> = {
  'an object that is cut off': [
    '{"type":"track","event":"e',
    ':27',
    'The text ends inside the string `event`',
    'is it cut off? `"}` is missing',
  ],
  'a text that is not JSON': ['nonsense', ':1', 'Expected a value, got `nonsense`', ''],
  'a number that JavaScript cannot hold': [
    '{"type":"track","userId":"u","event":"e","properties":{"ids":[1,12345678901234567890]}}',
    '',
    'Expected a number that JavaScript can hold at `properties.ids[1]`, got 12345678901234567890, which would become 12345678901234567000',
    'send it as a string: "12345678901234567890"',
  ],
  'a duplicate key': [
    '{"type":"track","userId":"u","event":"e","event":"f"}',
    '',
    'Expected each key once, got `event` twice',
    'JSON parsers do not agree on which one counts: keep one of them',
  ],
  '100,000 levels of nesting': [
    NESTED,
    ':566',
    'Expected at most 512 levels of nesting, got more',
    'flatten it',
  ],
  'invalid UTF-8': [
    Buffer.from('{"type":"track","userId":"\xff"}', 'latin1'),
    ':27',
    'Expected UTF-8, got the byte 0xff at offset 26',
    'save the file as UTF-8; from Latin-1: iconv -f LATIN1 -t UTF-8 FILE',
  ],
  'a track without an event': [
    '{"type":"track","userId":"u"}',
    '',
    'Expected `event` to be a non-empty string, got nothing (track)',
    'add it: what happened: "Order Completed"',
  ],
  'an alias without a previous id': [
    '{"type":"alias","userId":"u"}',
    '',
    'Expected `previousId` (or `Previous ID`) to be a non-empty string, got nothing (alias)',
    'add it: the id that the user had',
  ],
  'a timestamp without a zone': [
    track(9, { timestamp: '2026-11-20T21:10:05' }),
    '',
    'Expected `timestamp` to be RFC 3339 with a zone, got "2026-11-20T21:10:05" (track "Signup")',
    `add its zone or offset: ${AT}, or +02:00 in place of the Z`,
  ],
  'an unknown type': [
    '{"type":"trak"}',
    '',
    'Expected `type` to be page, screen, identify, track, alias, group or delete, got "trak"',
    'did you mean "track"?',
  ],
  'no object': ['42', '', 'Expected a message to be a JSON object, got 42', ''],
  'one byte too many': [
    messageOf(MAX_MESSAGE_BYTES + 1),
    '',
    'Expected a message of at most 32,768 bytes as JSON, got 32,769',
    'send less in one message, or split it',
  ],
};

const LF = Buffer.from('\n');

describe.concurrent('a malformed entry', () => {
  it.each(Object.entries(MALFORMED))(
    '%s is reported with its position and a hint',
    async (_what, [entry, column, reason, hint]) => {
      const to = await receiving();
      const cwd = temporaryFolder({ 'bad.ndjson': Buffer.concat([LF, Buffer.from(entry)]) });
      const { code, stdout } = await hooks(['replay', 'bad.ndjson', '--url', to.url], { cwd });
      const [line, ...rest] = stdout.split('\n');
      const continued = reason.charAt(0).toLowerCase() + reason.slice(1);
      expect(line).toBe(`✗ invalid   bad.ndjson:2${column}: ${continued}`);
      expect(rest.slice(0, -1)).toEqual([
        ...(hint === '' ? [] : [`  ${hint}`]),
        '',
        'read       1',
        'delivered  0',
        'invalid    1',
        expect.stringMatching(/^in \S+s, 0 a second$/),
      ]);
      expect([code, to.requests.length]).toEqual([1, 0]);
    },
  );

  it('does not stop the valid entries before, between and after', async () => {
    const to = await receiving();
    const bad = Object.values(MALFORMED).map(([entry]) => Buffer.from(entry));
    const lines = bad.flatMap((entry, index) => [Buffer.from(track(index)), entry]);
    const content = Buffer.concat([...lines, Buffer.from(track(bad.length))].flatMap((line) => [line, LF]));
    const cwd = temporaryFolder({ 'mixed.ndjson': content });
    const args = ['replay', 'mixed.ndjson', '--url', to.url, '-o', 'json', '--failed', 'failed.ndjson'];
    const { code, stdout, stderr } = await hooks(args, { cwd });
    expect(code).toBe(1);
    expect(summaryOf(stdout)).toMatchObject({
      read: 2 * bad.length + 1,
      delivered: bad.length + 1,
      invalid: bad.length,
    });
    expect(to.field('messageId')).toEqual(Array.from({ length: bad.length + 1 }, (_, index) => `m${index}`));
    const invalid = jsonLines(stdout).filter(({ outcome }) => outcome === 'invalid');
    expect(invalid.map(({ origin, at, reason }) => [origin, at, reason])).toEqual(
      Object.values(MALFORMED).map(([, column, reason], index) => {
        const place = `mixed.ndjson:${2 * index + 2}`;
        return [place, `${place}${column}`, reason];
      }),
    );
    expect(stderr.split('\n').filter((line) => line.startsWith('invalid: mixed.ndjson:'))).toHaveLength(
      bad.length,
    );
  });

  it.each([
    ['not JSON', 'nonsense'],
    ['not a message', '{"type":"track"}'],
  ])(
    'that is %s ends a replay with --fail-fast after the entries before it were sent',
    async (_what, bad) => {
      const to = await receiving({ respond: '200@delay=20ms' });
      const good = Array.from({ length: 8 }, (_, index) => track(index, { userId: `u${index % 2}` }));
      const lines = [...good.slice(0, 6), bad, ...good.slice(6)];
      const cwd = temporaryFolder({ 'bad.ndjson': `${lines.join('\n')}\n` });
      const args = ['replay', 'bad.ndjson', '--url', to.url, '--fail-fast', '-o', 'json'];
      const { code, stdout } = await hooks(args, { cwd });
      expect(code).toBe(1);
      expect(summaryOf(stdout)).toMatchObject({ read: 7, delivered: 6, invalid: 1, unsent: 0 });
      expect(sorted(to.field('messageId'))).toEqual(['m0', 'm1', 'm2', 'm3', 'm4', 'm5']);
    },
  );

  it('does not hide an earlier failure with --fail-fast, even if it is already read', async () => {
    const to = await receiving({ respond: '400@delay=20ms' });
    const cwd = temporaryFolder({ 'bad.ndjson': `${track(0)}\n${track(1)}\nnonsense\n` });
    const args = ['replay', 'bad.ndjson', '--url', to.url, '--fail-fast', '-o', 'json'];
    const { code, stdout } = await hooks(args, { cwd });
    expect(code).toBe(1);
    expect(summaryOf(stdout)).toMatchObject({ read: 2, failed: 1, invalid: 0, unsent: 1 });
  });
});

it.concurrent(
  'hooks send and replay accept a message of exactly 32,768 bytes, and reject one more byte',
  async () => {
    const to = await receiving();
    const [fits, over] = [MAX_MESSAGE_BYTES, MAX_MESSAGE_BYTES + 1];
    const sent = await Promise.all(
      [fits, over].map((bytes) =>
        hooks(['send', '--json', '@-', '--url', to.url], { stdin: messageOf(bytes) }),
      ),
    );
    expect(sent.map(({ code }) => code)).toEqual([0, 2]);
    expect(sent[1]?.stderr).toBe(
      'error: Expected a message of at most 32,768 bytes as JSON, got 32,769\nhint:  send less in one message, or split it\n',
    );
    const replayed = await hooks(['replay', '-', '--url', to.url], { stdin: messageOf(fits) });
    expect(replayed.code).toBe(0);
    expect(to.field('messageId')).toEqual(['mbig', 'mbig']);
  },
);

it.concurrent('hooks replay skips a line of 100 MB in bounded memory', async () => {
  const to = await receiving();
  // Sampled, because the peak that the system records starts with that of the parent process.
  const printPeak =
    'let peak=0;setInterval(()=>{peak=Math.max(peak,process.memoryUsage.rss())},10).unref();' +
    "process.on('exit',()=>process.stderr.write('peak '+peak))";
  const long = Buffer.concat([
    Buffer.from(`${track(1)}\n{"type":"track","event":"`),
    Buffer.alloc(100 * 1024 * 1024, 'x'),
    Buffer.from(`"}\n${track(2)}\n`),
  ]);
  const { code, stdout, stderr } = await runBuilt(['replay', '-', '--url', to.url, '-o', 'json'], {
    stdin: long,
    env: { NODE_OPTIONS: `--import "data:text/javascript,${encodeURIComponent(printPeak)}"` },
  });
  expect(code).toBe(1);
  expect(summaryOf(stdout)).toMatchObject({ read: 3, delivered: 2, invalid: 1 });
  expect(to.field('messageId')).toEqual(['m1', 'm2']);
  expect(jsonLines(stdout).find(({ outcome }) => outcome === 'invalid')).toMatchObject({
    reason: 'the entry that begins here is larger than 1024 KiB',
    origin: '<stdin>:2',
  });
  // The command alone takes 80 MB, and the line would add a hundred.
  expect(Number(/peak (\d+)/.exec(stderr)?.[1])).toBeLessThan(160 * 1024 * 1024);
});
