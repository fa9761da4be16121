import { fileURLToPath } from 'node:url';
import type { ReceivedRequest } from '../../src/receiver/received-request.ts';
import { startReceiver } from '../../src/app/explained.ts';
import { parseScript } from '../../src/receiver/response/script.ts';
import { afterEachFile } from '../clean-ups.ts';

export const ROOT = fileURLToPath(new URL('../..', import.meta.url));
export const SECRET = 's3cret-of-the-test';
/** A timestamp for messages. */
export const AT = '2026-11-20T21:10:05.123Z';

/** Run when the file ends, not the test: in concurrent tests Vitest cannot tell which test has ended. */
const cleanUps: (() => Promise<void>)[] = [];
afterEachFile(async () => {
  await Promise.all(cleanUps.splice(0).map((cleanUp) => cleanUp()));
});

export interface Receiving {
  readonly url: string;
  /** In the order of arrival. */
  readonly requests: readonly ReceivedRequest[];
  readonly bodies: () => string[];
  /** Returns one field of each body. */
  readonly field: (name: string) => unknown[];
}

/** Starts a receiver in the process of the tests. `respond` is a script of `listen --respond`. */
export async function receiving({
  secret,
  respond,
  onRequest,
}: {
  readonly secret?: string;
  readonly respond?: string;
  readonly onRequest?: (request: ReceivedRequest) => void;
} = {}): Promise<Receiving> {
  const requests: ReceivedRequest[] = [];
  const receiver = await startReceiver({
    secrets: secret === undefined ? [] : [secret],
    ...(respond !== undefined && { script: parseScript(respond) }),
    onRequest: (request) => {
      requests.push(request);
      onRequest?.(request);
    },
  });
  cleanUps.push(() => receiver.close());
  const bodies = (): string[] => requests.map(({ body }) => Buffer.from(body).toString());
  return {
    url: receiver.url,
    requests,
    bodies,
    field: (name) => bodies().map((body) => (JSON.parse(body) as Record<string, unknown>)[name]),
  };
}

/** Returns the value of a header as received. */
export function headerOf({ rawHeaders }: ReceivedRequest, name: string): string | undefined {
  const at = rawHeaders.findIndex((each, index) => index % 2 === 0 && each.toLowerCase() === name);
  return at === -1 ? undefined : rawHeaders[at + 1];
}

/** Returns a track with the message id `m` and `id`, by the same user unless `fields` say otherwise. */
export function track(id: number | string, fields: Readonly<Record<string, unknown>> = {}): string {
  return JSON.stringify({
    type: 'track',
    userId: 'u1',
    event: 'Signup',
    messageId: `m${id}`,
    timestamp: AT,
    ...fields,
  });
}

export function tracks(count: number, fields: Readonly<Record<string, unknown>> = {}): string {
  return Array.from({ length: count }, (_, index) => `${track(index, fields)}\n`).join('');
}

/** Parses the lines of `-o json`. */
export function jsonLines<Line = Record<string, unknown>>(stdout: string): Line[] {
  const lines = stdout.split('\n').filter((line) => line !== '');
  return lines.map((line) => JSON.parse(line) as Line); // as cli.md says
}

const COUNTS = ['delivered', 'failed', 'queued', 'filtered', 'invalid', 'unsent'] as const;

export type Counts = Readonly<Record<(typeof COUNTS)[number] | 'read' | 'skipped', number>>;

/** Returns the summary of `replay -o json`. Throws if the counts do not add up, or, without -q, differ from the result lines. */
export function summaryOf(stdout: string, { quiet = false } = {}): Counts {
  const lines = jsonLines(stdout);
  const { summary } = lines.at(-1) as { summary?: Counts };
  if (summary === undefined) throw new Error(`Expected a summary as the last line of ${stdout}`);
  const sum = COUNTS.reduce((total, name) => total + summary[name], 0);
  if (sum !== summary.read) throw new Error(`Expected the counts to add up: ${JSON.stringify(summary)}`);
  if (quiet) return summary;
  for (const name of COUNTS) {
    const shown = lines.filter(({ outcome }) => outcome === name).length;
    if (shown !== summary[name]) {
      throw new Error(`Expected ${summary[name]} lines that say ${name}, got ${shown}`);
    }
  }
  return summary;
}

/** Returns the values as sorted texts, to compare what arrives in any order. */
export function sorted(values: readonly unknown[]): string[] {
  return values.map(String).toSorted();
}
