// Needs tmux and python3.
import stringWidth from 'fast-string-width';
import { execFileSync } from 'node:child_process';
import { rmSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { atTerminal } from '../end-to-end/terminal.ts';
import { hasTool } from '../external-tool.ts';
import { freePort } from '../free-port.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import {
  brokenWords,
  COMMANDS,
  COPIED,
  EVENTS,
  FILES,
  headsOff,
  startRejecting,
  tooWide,
} from './narrow-terminal.ts';
import { hooks } from './run-in-process.ts';

const HOOKS = fileURLToPath(new URL('../../bin/hooks.js', import.meta.url));
const NARROW = [60, 80, 120, 160] as const;
/** A width at which nothing is wrapped or shortened. */
const WIDE = 2_000;
const WIDTHS = [...NARROW, WIDE] as const;
/** A height at which the longest output does not scroll. */
const ROWS = 600;

/** Commands of this test only, most of which read standard input. */
const OWN_COMMANDS = [
  '--help',
  'send track --event 注文完了した --user-id u --retry-for 0',
  'replay - --retry-for 0 < day.ndjson',
  'replay - -v --retry-for 0 < day.ndjson',
  'replay - --loopback < day.ndjson',
  'init new.yaml --yes --force',
  'queue vacuum',
  'queue backup vip.csv',
];

/**
 * Each command starts a process for each width, possibly on a busy machine. There, one of the processes can leave out an
 * explanation that has a time limit, so a command that fails runs again: a broken word is broken each time.
 */
const PATIENT = { timeout: 180_000, retry: 2 };

/** Commands that Ctrl-C ends, with the text on the screen at which to press it. */
const INTERRUPTED = [
  ['init', /What is the config for/],
  ['listen --port PORT --secret s3cret', /(?:unsigned[^]*){4}/],
] as const;

/** The events that are as long as the column at its narrowest. */
const SHORT_EVENTS = EVENTS.filter((event) => stringWidth(event) <= 20);
const SHORT_QUEUED = EVENTS.filter((event) => stringWidth(event) <= 16);
const ALL_HEADS = ['STATE', 'ID', 'EVENT', 'USER', 'WEBHOOK', 'ATTEMPTS', 'DUE'];

describe.skipIf(!hasTool('tmux', '-V'))('on the screen of a terminal', () => {
  const cwd = temporaryFolder(FILES);
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-S', join(cwd, 'tmux'), ...args], { encoding: 'utf8' });
  const dataDirOf = (columns: number): string => join(cwd, `data${columns}`);
  const ids = new Map<number, string>();
  let rejecting: Awaited<ReturnType<typeof startRejecting>>;

  beforeAll(async () => {
    rejecting = await startRejecting();
    for (const columns of WIDTHS) {
      const env = { HOOKS_DATA_DIR: dataDirOf(columns), HOOKS_URL: rejecting.url, HOOKS_SECRET: 's3cret' };
      for (const event of EVENTS) {
        await hooks(['send', 'track', '--event', event, '--user-id', 'u', '--queue'], { cwd, env });
      }
      await hooks(['audience', 'sync', 'vip', 'vip.csv', '--loopback'], { cwd, env });
      const { stdout } = await hooks(['queue', 'list', '-o', 'json'], { cwd, env });
      ids.set(columns, (JSON.parse(stdout.split('\n', 1)[0] ?? '') as { id: string }).id); // what -o json prints
      const size = ['-x', String(columns), '-y', String(ROWS)];
      tmux('-f', '/dev/null', 'new-session', '-d', '-s', `w${columns}`, ...size, '-c', cwd, 'cat');
    }
  });
  afterAll(() => {
    tmux('kill-server');
    return rejecting.close();
  });

  function start(line: string, columns: number, port = 0): void {
    const values = { ID: ids.get(columns) ?? '', URL: rejecting.url, PORT: String(port) };
    const words = line.replace(/\b(?:ID|URL|PORT)\b/g, (name) => values[name as keyof typeof values]); // as matched
    const env = `HOOKS_DATA_DIR=${dataDirOf(columns)} HOOKS_URL=${rejecting.url} HOOKS_SECRET=s3cret`;
    // An empty folder, because a prompt of `init` must find no config.
    rmSync(join(cwd, '.hooksrc.yaml'), { force: true });
    tmux('respawn-pane', '-k', '-t', `w${columns}`, `${env} node ${HOOKS} ${words}; echo; echo ENDED; cat`);
  }

  /** Joins lines that the terminal itself has broken, so that they count as too wide. */
  const screen = (columns: number): string => tmux('capture-pane', '-p', '-J', '-t', `w${columns}`);
  const shows = (columns: number, text: string | RegExp): Promise<void> =>
    until(() => screen(columns).search(text) !== -1, `${text} at ${columns} columns`, { seconds: 60 });

  async function expectWhole(): Promise<void> {
    await Promise.all(WIDTHS.map((columns) => shows(columns, 'ENDED')));
    const wide = screen(WIDE).replace(COPIED, '');
    for (const columns of NARROW) {
      const narrow = screen(columns).replace(COPIED, '');
      expect(narrow.split('ENDED')[0]?.trim()).not.toBe('');
      expect([columns, tooWide(narrow.replaceAll(/ +$/gm, ''), columns)]).toEqual([columns, []]);
      expect([columns, brokenWords(narrow, wide)]).toEqual([columns, []]);
      expect([columns, headsOff(narrow)]).toEqual([columns, []]);
    }
  }

  it.each([...COMMANDS, ...OWN_COMMANDS])('`hooks %s` breaks no word', PATIENT, async (line) => {
    for (const columns of WIDTHS) {
      start(line, columns);
      // The diagnosis of `hooks test` depends on its time: at once, four would find less.
      if (line.startsWith('test ')) await shows(columns, 'ENDED');
    }
    await expectWhole();
  });

  it.each(NARROW)(
    '`hooks queue list` gives the room to the event first, at %s columns',
    PATIENT,
    async (columns) => {
      start('queue list', columns);
      await shows(columns, 'ENDED');
      const listed = screen(columns);
      for (const event of columns < 120 ? SHORT_QUEUED : EVENTS) expect(listed).toContain(event);
      expect(listed).not.toContain(ids.get(columns)); // only the end of the id
      const heads = columns < 80 ? ['STATE', 'EVENT', 'DUE'] : ALL_HEADS;
      for (const head of heads) expect(listed).toContain(head);
    },
  );

  it.each(INTERRUPTED)('`hooks %s` breaks no word', PATIENT, async (line, last) => {
    await Promise.all(
      WIDTHS.map(async (columns) => {
        const port = await freePort();
        start(line, columns, port);
        if (line.startsWith('listen')) {
          await shows(columns, 'Keys:');
          for (const event of EVENTS) {
            const body = JSON.stringify({ type: 'track', event, userId: '使用者-1' });
            await fetch(`http://127.0.0.1:${port}/hook`, { method: 'POST', body });
          }
        }
        await shows(columns, last);
        tmux('send-keys', '-t', `w${columns}`, 'C-c');
      }),
    );
    await expectWhole();
    if (!line.startsWith('listen')) return;
    for (const columns of NARROW) {
      const shown = columns < 80 ? ['Signup', '注文完了した'] : SHORT_EVENTS;
      for (const event of shown) expect(screen(columns)).toContain(`track "${event}"`);
    }
  });
});

describe.skipIf(!hasTool('python3', '--version'))('a terminal that reports no width', () => {
  it('counts as one of 80 columns', async () => {
    const command = `stty cols 0; exec '${process.execPath}' '${HOOKS}' queue list --store /nonexistent/queue.db`;
    const { shown } = await atTerminal(['sh', '-c', command], { cwd: temporaryFolder(), steps: [] });
    expect(shown).toContain('There is no queue at /nonexistent/queue.db\r\n');
  });
});
