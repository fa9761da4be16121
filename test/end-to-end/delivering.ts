import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { freePort } from '../free-port.ts';
import type { HostileReceiver } from '../hostile-receivers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks, type HooksOptions, type HooksResult } from './hooks.ts';

export interface DeliveringOptions extends HooksOptions {
  /** Runs the command line. @default the built program */
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

/** The counts in the last line of a replay. */
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

/** Runs `hooks send -o json` to these URLs. */
export async function send(
  urls: readonly string[],
  flags: readonly string[] = [],
  { run = hooks, ...options }: DeliveringOptions = {},
): Promise<Sent> {
  const to = urls.flatMap((url) => ['--url', url]);
  const { code, stdout, stderr } = await run([...SEND, '-o', 'json', ...to, ...flags], options);
  return { code, line: JSON.parse(stdout) as ResultLine, stderr };
}

/** Sends the smallest valid message. */
export const SEND = ['send', 'track', '--event', 'Signup', '--user-id', 'u'] as const;

export interface Replayed {
  readonly code: number | null;
  readonly lines: readonly ResultLine[];
  readonly summary: Summary;
  readonly stderr: string;
}

/** Parses the output of a replay with `-o json`. */
export function replayed({ code, stdout, stderr }: HooksResult): Replayed {
  const all = stdout.trimEnd().split('\n');
  const { summary } = JSON.parse(all.at(-1) ?? '') as { summary: Summary };
  return { code, lines: all.slice(0, -1).map((line) => JSON.parse(line) as ResultLine), summary, stderr };
}

/** Runs `hooks replay -o json` from a file to a URL. */
export async function replay(
  file: string,
  url: string,
  flags: readonly string[] = [],
  { run = hooks, ...options }: DeliveringOptions = {},
): Promise<Replayed> {
  return replayed(await run(['replay', file, '--url', url, '-o', 'json', ...flags], options));
}

/** Writes a file of messages with the ids `m0`, `m1` …, each of a different user. Returns its path. */
export async function messagesFile(count: number): Promise<string> {
  const lines = Array.from(
    { length: count },
    (_, index) => `{"type":"track","event":"e","userId":"u${index}","messageId":"m${index}"}\n`,
  );
  return join(temporaryFolder({ 'messages.ndjson': lines.join('') }), 'messages.ndjson');
}

/** Returns the ids of the messages that a receiver got, in the order of arrival and with repetitions. */
export function messageIdsAt({ requests }: Pick<HostileReceiver, 'requests'>): string[] {
  return requests.map(({ body }) => (JSON.parse(body.toString()) as { messageId: string }).messageId);
}

/** Returns a URL where no program listens. */
export async function closedPort(): Promise<string> {
  return `http://127.0.0.1:${await freePort()}/hook`;
}

/**
 * Source of a function that returns the peak memory of the own process in MB. On Linux this is VmHWM, because `maxRSS`
 * starts with that of the process that forked it.
 */
export const PEAK_MB = `
import { existsSync, readFileSync } from 'node:fs';
function peakMb() {
  const [, peak] = existsSync('/proc/self/status') ? /VmHWM:\\s+(\\d+)/.exec(readFileSync('/proc/self/status', 'utf8')) : [];
  return Number(peak ?? process.resourceUsage().maxRSS) / 1024;
}
`;

const PRELOAD = `${PEAK_MB}
import { writeFileSync } from 'node:fs';
process.on('exit', () => writeFileSync(process.env.PEAK_FILE, String(peakMb())));
`;

/** Lets a command report its peak memory. */
export async function peakMemory(): Promise<{
  readonly env: Readonly<Record<string, string>>;
  readonly mb: () => Promise<number>;
}> {
  const file = join(temporaryFolder(), 'peak');
  const preload = `data:text/javascript,${encodeURIComponent(PRELOAD)}`;
  return {
    env: { NODE_OPTIONS: `--import=${preload}`, PEAK_FILE: file },
    mb: async () => Number(await readFile(file, 'utf8')),
  };
}
