import { Readable } from 'node:stream';
import { Command } from 'commander';
import { afterAll, describe, expect, it } from 'vitest';
import {
  addWhereToFlags,
  WHERE_TO_ROWS,
  type Way,
  type WhereToFlags,
  type WhereToRow,
} from '../../../../src/cli/flags/delivery/where-to-flags.ts';
import { resolveWhereTo } from '../../../../src/cli/flags/delivery/where-to.ts';
import { loadSettings } from '../../../../src/config/settings.ts';
import { makeCertificates } from '../../../certificates.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';

const certificates = await makeCertificates();
afterAll(() => certificates.remove());

type FlagName = keyof typeof WHERE_TO_ROWS;

/** Each flag with a value that no config has. */
const GIVEN: Readonly<Record<FlagName, readonly string[]>> = {
  url: ['--url', 'https://flag.example'],
  header: ['--header', 'X-Flag: 1'],
  ca: ['--ca', 'CA_FILE'],
  secret: ['--secret', 'secret-of-the-flag'],
  secretFile: ['--secret-file', 'secret.txt'],
  scheme: ['--scheme', 'github'],
  strategy: ['--strategy', 'broadcast'],
  timeout: ['--timeout', '77ms'],
  retryFor: ['--retry-for', '77s'],
  concurrency: ['--concurrency', '77'],
  source: ['--source', 'other'],
  endpoint: ['--endpoint', 'https://flag.example'],
  writeKey: ['--write-key', 'key-of-the-flag'],
  loopback: ['--loopback'],
  queue: ['--queue'],
  store: ['--store', 'sqlite:./flag.db'],
  exact: ['--exact'],
};

/** The flags and the config that select each way, by flags and by the config alone. */
const PATHS: readonly { readonly way: Way; readonly argv: readonly string[]; readonly config: string }[] = [
  { way: 'webhooks', argv: ['--url', 'https://a.example'], config: '' },
  { way: 'webhooks', argv: [], config: 'destinations: { Webhooks: { webhooks: ["https://b.example"] } }' },
  { way: 'tracking-api', argv: ['--endpoint', 'https://a.example'], config: 'writeKey: k' },
  { way: 'tracking-api', argv: [], config: 'writeKey: k' },
  { way: 'loopback', argv: ['--loopback'], config: '' },
  {
    way: 'queue',
    argv: ['--queue'],
    config: 'destinations: { Webhooks: { webhooks: ["https://b.example"] } }',
  },
];

/** Resolves the target with these flags, as text to compare, or the error if the flags are rejected. */
async function resolved(argv: readonly string[], source: string): Promise<string> {
  const [main, other] = [source, source.replace('b.example', 'c.example').replace('Key: k', 'Key: l')];
  const folder = temporaryFolder({
    'secret.txt': 'secret-of-the-file',
    '.hooksrc': `endpoint: https://api.example\nsources:\n  default: { ${main} }\n  other: { ${other} }\n`,
  });
  const command = new Command('send').exitOverride();
  addWhereToFlags(command);
  command.option('--exact');
  command.parse(
    argv.map((word) => (word === 'CA_FILE' ? certificates.caFile : word)),
    { from: 'user' },
  );
  const settings = await loadSettings({ flags: {}, env: { HOME: folder }, cwd: folder });
  try {
    const to = await resolveWhereTo(
      { source: 'default', ...command.opts<WhereToFlags>() },
      settings,
      ioOf(folder),
    );
    return JSON.stringify(to.kind === 'loopback' ? [to, to.deliverTo('http://127.0.0.1:1')] : to);
  } catch (error) {
    return `rejected: ${String(error)}`;
  }
}

function ioOf(cwd: string) {
  const { signal } = new AbortController();
  const { stderr } = process;
  const stdin = Readable.from([]);
  return {
    stdin,
    stdinFd: undefined,
    signal,
    note: () => {},
    isQuiet: false,
    stderr,
    stderrIsTty: false,
    cwd,
  };
}

describe('the "where to" flags', () => {
  const names = Object.keys(GIVEN) as FlagName[]; // the keys of a closed table
  const cases = PATHS.flatMap((path) => names.map((name) => ({ ...path, name })));

  it.each(cases)('$name is used or rejected on the way to $way with $argv', async ({ name, ...path }) => {
    const row: WhereToRow = WHERE_TO_ROWS[name];
    const [before, after] = await Promise.all([
      resolved(path.argv, path.config),
      resolved([...path.argv, ...GIVEN[name]], path.config),
    ]);
    expect(before).not.toContain('rejected');
    // A flag that selects a way can change the way. A selecting flag of argv is given twice.
    const isChosen = row.selects !== undefined && (path.argv.length === 0 || path.argv.includes(row.flag));
    const applies =
      row.appliesTo.includes(path.way) && (row.needs === undefined || path.argv.includes(row.needs));
    // `--exact` changes how bodies are read, not the target.
    if (applies && !path.argv.includes(row.flag) && name !== 'exact') expect(after).not.toBe(before);
    if (!isChosen) expect(after.startsWith('rejected: ')).toBe(!applies);
  });
});
