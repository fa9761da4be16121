// Needs python3, go, ruby, php, curl. Takes minutes.
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { documentedFile } from '../documentation/blocks.ts';
import { hasTool } from '../external-tool.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { argv } from './argv.ts';
import { ROOT } from './receiving.ts';
import { testing, type CheckLine, type Tested } from './testing.ts';

const RECEIVERS = join(ROOT, 'test/idempotence/receivers');
/** More than a run takes on a busy machine. */
const TIMEOUT_MS = 300_000;

type Language = 'node' | 'python3' | 'ruby' | 'go';

const hasLanguage = new Map(
  (['node', 'python3', 'ruby', 'go'] as const).map(
    (language) => [language, hasTool(language, language === 'go' ? 'version' : '--version')] as const,
  ),
);
/** Commands that reset the state, of which one needs the running receiver. */
const RESETS: Readonly<Record<Language, string>> = {
  node: 'curl -sf -X POST http://127.0.0.1:$PORT/reset',
  python3: 'rm -f "$DATA_DIR"/*',
  ruby: 'rm -f "$DATA_DIR"/*',
  go: 'rm -f "$DATA_DIR"/*',
};
const HAS_CURL = hasTool('curl', '--version');

/** Builds the receivers once, because each is started dozens of times. */
function builtGoReceivers(): string {
  const program = join(temporaryFolder(), 'receivers');
  execFileSync('go', ['build', '-o', program, join(RECEIVERS, 'receivers.go')]);
  return program;
}

const goProgram = hasLanguage.get('go') === true ? builtGoReceivers() : '';

function commandOf(language: Language, name: string): string[] {
  const files = { node: 'receivers.js', python3: 'receivers.py', ruby: 'receivers.rb', go: '' };
  if (STORIES.some(([story]) => story === name)) return [language, join(RECEIVERS, 'stories.py'), name];
  return language === 'go' ? [goProgram, name] : [language, join(RECEIVERS, files[language]), name];
}

interface ProofLine extends CheckLine {
  readonly ms: number;
  readonly counterexample?: {
    readonly requests: readonly {
      readonly messageId: string;
      readonly atMs: number;
      readonly tries?: number;
    }[];
    readonly expected: string;
    readonly state: string;
  };
}

async function proved(language: Language, name: string, flags: readonly string[]): Promise<Tested> {
  const env = { DATA_DIR: temporaryFolder() };
  const state = ['--state', 'curl -sf http://127.0.0.1:$PORT/', '--state-timeout', '30s', '--no-config'];
  const reset = ['--reset', RESETS[language]];
  return testing(commandOf(language, name), [...state, ...reset, ...flags], { env, timeoutMs: TIMEOUT_MS });
}

/** Receivers with one mistake each: the check that finds the mistake, and its code. */
const FLAWED: readonly (readonly [language: Language, name: string, check: string, fault: string])[] = [
  ['node', 'check-then-act', 'twice-at-once', 'check-then-act'],
  ['node', 'effect-before-record', 'twice-at-once', 'check-then-act'],
  ['node', 'memory-only', 'killed', 'dedupe-in-memory'],
  ['python3', 'key-by-content', 'once', 'dedupes-by-content'],
  ['python3', 'key-cut-off', 'once', 'cuts-ids-off'],
  ['ruby', 'last-write-wins', 'shuffled', 'goes-by-arrival'],
  ['python3', 'effect-despite-5xx', 'after-5xx', 'effect-despite-5xx'],
  ['go', 'crash-between', 'killed', 'effect-and-record-apart'],
  ['python3', 'unique-answered-with-500', 'twice', 'fails-on-duplicates'],
  ['go', 'short-window', 'late', 'window-too-short'],
  ['ruby', 'last-of-each-user', 'twice', 'remembers-last'],
  ['go', 'counter', 'twice', 'no-dedupe'],
  ['python3', 'key-by-user', 'once', 'dedupes-by-user'],
  ['node', 'responds-first', 'twice', 'works-after-response'],
  ['node', 'lost-update', 'interleaved', 'loses-updates'],
];

/** Mistakes that look like others: the check that finds each, its code and the seed. */
const STORIES: readonly (readonly [name: string, check: string, fault: string, seed: number])[] = [
  ['upsert-by-arrival', 'twice', 'overwrites-newer', 1],
  ['upsert-by-arrival', 'twice', 'overwrites-newer', 2],
  ['without-tombstones', 'twice', 'overwrites-newer', 1],
  ['without-tombstones', 'twice', 'overwrites-newer', 2],
  ['deletion-erases-ids', 'twice', 'overwrites-newer', 1],
  ['deletion-erases-ids', 'twice', 'overwrites-newer', 2],
  ['id-kept-when-busy', 'interleaved', 'keeps-id-after-failure', 1],
  ['id-kept-after-503', 'once', 'keeps-id-after-failure', 1],
  ['id-kept-after-each-fourth', 'once', 'keeps-id-after-failure', 1],
  ['ids-per-process', 'twice', 'dedupe-per-process', 1],
  // Two of its sample ids have the same checksum.
  ['crc-buckets', 'once', 'cuts-ids-off', 3],
];

const SOUND: readonly (readonly [language: Language, name: string])[] = [
  ['python3', 'upsert'],
  ['python3', 'outbox'],
  ['node', 'idempotent-set'],
  ['python3', 'inbox'],
  ['go', 'newest-wins'],
];
/** The first seed and the last: HOOKS_IDEMPOTENCE_SEEDS=1-50 takes an hour. */
const [FIRST_SEED = 1, LAST_SEED = FIRST_SEED] = (process.env['HOOKS_IDEMPOTENCE_SEEDS'] ?? '1')
  .split('-')
  .map(Number);
const SEEDS = Array.from({ length: LAST_SEED - FIRST_SEED + 1 }, (_, place) => FIRST_SEED + place);

function isRunnable([language]: readonly [Language, ...unknown[]]): boolean {
  return HAS_CURL && hasLanguage.get(language) === true;
}

describe.concurrent('hooks test --state', () => {
  it.each(FLAWED.filter(isRunnable))(
    'finds a receiver in %s with the mistake %s by %s: %s',
    async (language, name, check, fault) => {
      const startedAt = performance.now();
      const { code, lines, stderr } = await proved(language, name, ['--any-order', '--seed', '1']);
      // Not asserted, because the duration depends on the machine as much as on the receiver.
      const seconds = ((performance.now() - startedAt) / 1_000).toFixed(1);
      process.stdout.write(`${name} (${language}): found in ${seconds} s\n`);
      const failed = lines.filter(({ outcome }) => outcome === 'failed') as ProofLine[]; // its lines have these fields
      expect(
        failed.map((line) => [line.check, line.diagnosis?.code]),
        stderr,
      ).toEqual([[check, fault]]);
      expect(code).toBe(1);
      expect(failed[0]?.counterexample?.requests.length).toBeLessThanOrEqual(3);
    },
    TIMEOUT_MS,
  );

  it.skipIf(!isRunnable(['python3'])).each(STORIES)(
    'explains the mistake of %s: %s finds %s, seed %i',
    async (name, check, fault, seed) => {
      const { lines, stdout } = await proved('python3', name, ['--seed', String(seed)]);
      const [failed] = lines.filter(({ outcome }) => outcome === 'failed') as ProofLine[]; // its lines have these fields
      expect([failed?.check, failed?.diagnosis?.code], stdout).toEqual([check, fault]);
      const { requests = [] } = failed?.counterexample ?? {};
      const ids = requests.map(({ messageId }) => messageId);
      const comesAgain = new Set(ids).size < ids.length || requests.some(({ tries = 1 }) => tries > 1);
      expect(comesAgain, stdout).toBe(check !== 'once' || fault === 'keeps-id-after-failure');
      // How few requests remain depends on the load of the machine: test/idempotence/shrink.test.ts proves that they get few.
      if (fault === 'overwrites-newer') expect(ids.slice(2)).toContain(ids[0]);
    },
    TIMEOUT_MS,
  );

  it.skipIf(!HAS_CURL || !hasTool('php', '--version'))(
    'finds a race of microseconds in PHP, in which each worker checks a file before it creates the file',
    async () => {
      const env = { DATA_DIR: temporaryFolder(), PHP_CLI_SERVER_WORKERS: '4' };
      const command = ['sh', '-c', `exec php -S 127.0.0.1:$PORT '${join(RECEIVERS, 'race.php')}'`];
      const state = ['--state', 'curl -sf http://127.0.0.1:$PORT/', '--reset', RESETS.python3, '--no-config'];
      // More schedules than by default, because a busy machine shows fewer races. The first race ends them.
      const flags = [...state, '--only', 'twice-at-once', '--schedules', '60'];
      const { faults, stdout } = await testing(command, flags, { env, timeoutMs: TIMEOUT_MS });
      expect(faults, stdout).toEqual({ 'twice-at-once': 'check-then-act' });
    },
    TIMEOUT_MS,
  );

  it.each(
    SOUND.filter(isRunnable).flatMap(([language, name]) =>
      SEEDS.map((seed) => [language, name, seed] as const),
    ),
  )(
    'finds nothing wrong with the sound receiver in %s: %s, seed %i',
    async (language, name, seed) => {
      const flags = ['--any-order', '--seed', String(seed), '--schedules', '14', '--late', '1s'];
      const { code, checks, stdout, stderr } = await proved(language, name, flags);
      expect(checks('failed'), stdout).toEqual([]);
      expect(code, stderr).toBe(0);
    },
    TIMEOUT_MS,
  );

  it.skipIf(!hasLanguage.get('python3'))(
    'finds nothing wrong with the receiver of docs/receivers.md, which has 20 lines',
    async () => {
      const program = documentedFile('docs/receivers.md', 'app.py').replace(/^#.*\n/, '');
      const lines = program.split('\n').filter((line) => line.trim() !== '');
      expect(lines.length).toBeLessThanOrEqual(20);
      expect(lines.filter(({ length }) => length > 100)).toEqual([]);
      const cwd = temporaryFolder({ 'app.py': program });
      const print = `import sqlite3; print(*sqlite3.connect("app.db").execute("select * from counts"), sep="\\n")`;
      const state = `python3 -c '${print}'`;
      const flags = argv`--state ${state} --reset ${'rm -f app.db'} --any-order --no-config`;
      const few = ['--schedules', '14', '--late', '1s', '--state-timeout', '30s'];
      const { code, checks, stdout, stderr } = await testing(['python3', 'app.py'], [...flags, ...few], {
        cwd,
        timeoutMs: TIMEOUT_MS,
      });
      expect(checks('failed'), stdout).toEqual([]);
      expect(code, stderr).toBe(0);
      expect(checks('passed')).toContain('killed');
    },
    TIMEOUT_MS,
  );
});
