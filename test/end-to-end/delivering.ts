import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import type { HostileReceiver } from '../hostile-receivers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks, type HooksOptions, type HooksResult } from './hooks.ts';

export interface DeliveringOptions extends HooksOptions {
  /** What runs the command line. @default the built program */
  readonly run?: typeof hooks;
}

/** A result line of `-o json`. */
export interface ResultLine {
  readonly messageId: string;
  readonly outcome: string;
  readonly url?: string;
  readonly status?: number;
  readonly error?: string;
  readonly reason?: string;
  readonly attempts: readonly AttemptLine[];
}

export interface AttemptLine {
  readonly at: string;
  readonly url: string;
  readonly status?: number;
  readonly error?: string;
  readonly ms: number;
  readonly reconnected?: true;
}

/** The last line of a replay. */
export interface Summary {
  readonly read: number;
  readonly delivered: number;
  readonly failed: number;
  readonly queued: number;
  readonly filtered: number;
  readonly invalid: number;
  readonly unsent: number;
  readonly skipped: number;
}

export interface Sent {
  readonly code: number | null;
  readonly line: ResultLine;
  readonly stderr: string;
}

/** `hooks send -o json` to these URLs. */
export async function send(
  urls: readonly string[],
  flags: readonly string[] = [],
  { run = hooks, ...options }: DeliveringOptions = {},
): Promise<Sent> {
  const to = urls.flatMap((url) => ['--url', url]);
  const { code, stdout, stderr } = await run([...SEND, '-o', 'json', ...to, ...flags], options);
  return { code, line: JSON.parse(stdout) as ResultLine, stderr };
}

/** The smallest message that there is. */
export const SEND = ['send', 'track', '--event', 'Signup', '--user-id', 'u'] as const;

export interface Replayed {
  readonly code: number | null;
  readonly lines: readonly ResultLine[];
  readonly summary: Summary;
  readonly stderr: string;
}

/** What a replay with `-o json` has printed. */
export function replayed({ code, stdout, stderr }: HooksResult): Replayed {
  const all = stdout.trimEnd().split('\n');
  const { summary } = JSON.parse(all.at(-1) ?? '') as { summary: Summary };
  return { code, lines: all.slice(0, -1).map((line) => JSON.parse(line) as ResultLine), summary, stderr };
}

/** `hooks replay -o json` of a file to a URL. */
export async function replay(
  file: string,
  url: string,
  flags: readonly string[] = [],
  { run = hooks, ...options }: DeliveringOptions = {},
): Promise<Replayed> {
  return replayed(await run(['replay', file, '--url', url, '-o', 'json', ...flags], options));
}

/** A file of so many messages, `m0`, `m1` … each of a user of its own. */
export async function messagesFile(count: number): Promise<string> {
  const file = join(temporaryFolder(), 'messages.ndjson');
  const lines = Array.from(
    { length: count },
    (_, index) => `{"type":"track","event":"e","userId":"u${index}","messageId":"m${index}"}\n`,
  );
  await writeFile(file, lines.join(''));
  return file;
}

/** The messages that a receiver has got whole, each as often as it came. */
export function messageIdsAt({ requests }: Pick<HostileReceiver, 'requests'>): string[] {
  return requests.map(({ body }) => (JSON.parse(body.toString()) as { messageId: string }).messageId);
}

/** Of nobody. */
export async function closedPort(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}/hook`;
}

const PRELOAD = `
import { existsSync, readFileSync, writeFileSync } from 'node:fs';
process.on('exit', () => {
  const [, peak] = existsSync('/proc/self/status') ? /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8')) : [];
  writeFileSync(process.env.PEAK_FILE, String(peak ?? process.resourceUsage().maxRSS));
});
`;

/**
 * Has a command tell how much memory it had at most. On Linux not by its `maxRSS`, which begins with that of the process that it
 * was forked from.
 */
export async function peakMemory(): Promise<{
  readonly env: Readonly<Record<string, string>>;
  readonly mb: () => Promise<number>;
}> {
  const file = join(temporaryFolder(), 'peak');
  const preload = `data:text/javascript,${encodeURIComponent(PRELOAD)}`;
  return {
    env: { NODE_OPTIONS: `--import=${preload}`, PEAK_FILE: file },
    mb: async () => Number(await readFile(file, 'utf8')) / 1024,
  };
}
