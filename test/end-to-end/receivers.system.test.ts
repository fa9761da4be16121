// Needs python3, go, ruby.
import { spawn } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { describe, expect, it, onTestFinished } from 'vitest';
import { CHECKS } from '../../src/check/checks.ts';
import { MESSAGE_CHECKS } from '../../src/check/message-checks.ts';
import { BLOCKS, isRecipe } from '../documentation/blocks.ts';
import { hasTool } from '../external-tool.ts';
import { freePort } from '../free-port.ts';
import { RawConnection } from '../receiver/raw-connection.ts';
import { sign } from '../sign.ts';
import { SECRET } from './receiving.ts';
import { RECEIVERS, testing } from './testing.ts';

/** Commands that start a receiver, by the extension of its file. Go compiles first, which is slow. */
const PROGRAMS: Readonly<Record<string, readonly [command: readonly string[], versionFlag: string]>> = {
  js: [['node'], '--version'],
  py: [['python3'], '--version'],
  go: [['go', 'run'], 'version'],
  rb: [['ruby'], '--version'],
};
const FLAGS = ['--start-timeout', '120s'];
const PATIENCE = { timeoutMs: 150_000 };

function commandOf(file: string): string[] {
  const [command] = PROGRAMS[file.split('.').at(-1) ?? ''] ?? [[]];
  return [...command, join(RECEIVERS, file)];
}

function isRunnable(file: string): boolean {
  const [[program = ''], versionFlag] = PROGRAMS[file.split('.').at(-1) ?? ''] ?? [[], ''];
  if (file === 'receiver-express.js' && !hasExpress()) return false;
  return hasTool(program, versionFlag);
}

function hasExpress(): boolean {
  try {
    createRequire(import.meta.url).resolve('express');
    return true;
  } catch {
    process.stderr.write('express is missing: the test of its receiver is skipped\n');
    return false;
  }
}

const CORRECT = ['receiver.js', 'receiver-express.js', 'receiver.py', 'receiver.go', 'receiver.rb'];

describe('the receiver to copy', () => {
  it.concurrent.each(CORRECT.filter(isRunnable))(
    '%s passes every check',
    async (file) => {
      const { code, lines, checks, stderr } = await testing(commandOf(file), FLAGS, PATIENCE);
      expect(checks('failed'), stderr).toEqual([]);
      expect([code, checks('skipped')]).toEqual([0, ['tls', 'constant-time']]);
      expect(lines).toHaveLength(CHECKS.length);
    },
    160_000,
  );
});

describe('the receiver to copy', () => {
  const body = '{}';
  const right = sign(body, SECRET);

  it.each(CORRECT.filter((file) => !file.endsWith('.go') && isRunnable(file)))(
    '%s accepts only 40 digits as a signature, and rejects an invalid Content-Length',
    async (file) => {
      const { port } = await receiving(commandOf(file));
      const answered = async (headers: readonly string[]): Promise<string | undefined> => {
        const client = await RawConnection.open(port);
        const lines = ['POST /webhook HTTP/1.1', 'Host: a', 'Content-Type: application/json', ...headers];
        client.write(`${lines.join('\r\n')}\r\n\r\n${body}`);
        const received = await client.until(/\r\n\r\n/);
        client.socket.destroy();
        return /^HTTP\/1\.1 (\d+)/.exec(received)?.[1];
      };
      const length = 'Content-Length: 2';
      expect(await answered([length, `X-Signature: ${right}`])).toBe('204');
      expect(await answered([length, `X-Signature: ${right}zz`])).toBe('401');
      expect(await answered([length, `X-Signature: ${right}, ${'0'.repeat(40)}`])).toBe('401');
      for (const wrong of ['-1', 'abc']) {
        expect(await answered([`Content-Length: ${wrong}`, `X-Signature: ${right}`])).toBe('400');
      }
    },
    60_000,
  );
});

/** Starts a receiver, and waits until it listens. It is killed when the test ends. */
async function receiving([program = '', ...args]: readonly string[]): Promise<{ readonly port: number }> {
  const port = await freePort();
  const env = { ...process.env, HOOKS_SECRET: SECRET, PORT: String(port) };
  const child = spawn(program, args, { env, stdio: 'ignore' });
  onTestFinished(() => void child.kill());
  await expect.poll(() => isListening(port), { timeout: 20_000 }).toBe(true);
  return { port };
}

async function isListening(port: number): Promise<boolean> {
  try {
    (await RawConnection.open(port)).socket.destroy();
    return true;
  } catch {
    return false;
  }
}

describe('a recipe of docs/receivers.md', () => {
  const recipes = BLOCKS.filter(isRecipe);

  it('exists for four languages', () => {
    expect(recipes.map(({ language }) => language)).toEqual(['js', 'python', 'go', 'ruby']);
  });

  it.each(recipes.map(({ language, text }) => [language, text.replace(/^.*\n/, '')]))(
    'in %s is part of a tested receiver',
    (_, recipe) => {
      const receivers = CORRECT.map((file) => readFileSync(join(RECEIVERS, file), 'utf8'));
      expect(receivers.filter((receiver) => receiver.includes(recipe))).not.toEqual([]);
    },
  );
});

/** The checks that a receiver fails if it rejects every message. */
const SIGNED = [
  ...MESSAGE_CHECKS.filter(({ expects }) => expects === 'taken'),
  { code: 'in-parts' },
  { code: 'latency' },
].map(({ code }) => code);
const each = (fault: string, checks = SIGNED): Record<string, string> =>
  Object.fromEntries(checks.map((check) => [check, fault]));
const BADLY_SIGNED = ['unsigned', 'short-signature', 'garbage-signature'];
const FORGED = [...BADLY_SIGNED, 'wrong-signature', 'tampered', 'other-secret', 'malformed'];

interface Broken {
  readonly file: string;
  /** The codes of the diagnoses, by check. */
  readonly faults: Readonly<Record<string, string>>;
  readonly flags?: readonly string[];
  readonly env?: Readonly<Record<string, string>>;
}

const BROKEN: readonly Broken[] = [
  { file: 'sha256.js', faults: each('sha256') },
  { file: 'base64.js', faults: each('base64') },
  { file: 're_serialises.py', faults: each('python-json') },
  {
    file: 're_serialises.py',
    env: { COMPACT: '1' },
    faults: each('escaped-unicode', ['unicode', 'numbers', 'in-parts']),
  },
  { file: 're_serialises.go', faults: each('reordered-keys') },
  { file: 'secret-not-set.js', faults: each('other-secret') },
  { file: 'secret-with-newline.js', faults: each('trimmed-secret') },
  { file: 'accepts-unsigned.js', faults: { unsigned: 'accepts-unsigned' } },
  { file: 'accepts-everything.js', faults: each('takes-everything', FORGED) },
  {
    file: 'accepts-a-prefix.js',
    faults: each('accepts-part-of-signature', ['unsigned', 'short-signature']),
  },
  { file: 'compares-unequal-lengths.js', faults: each('fails-on-bad-signature', BADLY_SIGNED) },
  { file: 'parses-first.js', faults: { malformed: 'fails-on-malformed' } },
  { file: 'decodes-chunks.js', faults: { 'in-parts': 'decodes-parts' } },
  { file: 'fails-on-unknown-type.js', faults: { 'unknown-type': 'fails-on-some' } },
  { file: 'fails-without-user-id.js', faults: { anonymous: 'fails-on-some' } },
  { file: 'fails-on-duplicates.js', faults: { duplicate: 'refuses-duplicates' } },
  { file: 'small-limit.js', faults: { large: 'body-limit' } },
  {
    file: 'redirects.js',
    faults: { redirect: 'redirect', track: 'redirect' },
    flags: ['--only', 'redirect,track,unsigned'],
  },
  { file: 'slow.js', faults: { latency: 'slow' }, flags: ['--only', 'latency', '--timeout', '12s'] },
  {
    file: 'hangs.js',
    faults: { redirect: 'timeout', page: 'timeout', screen: 'timeout' },
    flags: ['--timeout', '200ms'],
  },
  { file: 'dies.js', faults: { unsigned: 'died' } },
];

describe('the broken receiver', () => {
  const runnable = BROKEN.filter(({ file }) => isRunnable(file));

  it.concurrent.each(runnable)(
    '$file fails with the diagnosis of its mistake',
    async ({ file, faults, flags = [], env = {} }) => {
      const result = await testing(commandOf(`broken/${file}`), [...FLAGS, ...flags], { ...PATIENCE, env });
      expect(result.faults, result.stderr).toEqual(faults);
      expect(result.code).toBe(1);
    },
    160_000,
  );

  it.concurrent(
    'that compares with === passes, with a note that this is not visible from outside',
    async () => {
      const { code, lines, checks } = await testing(commandOf('broken/not-constant-time.js'));
      expect([code, checks('failed')]).toEqual([0, []]);
      expect(lines.at(-1)).toMatchObject({
        check: 'constant-time',
        outcome: 'skipped',
        reason: expect.stringContaining('cannot be seen from outside') as string,
      });
    },
  );

  it.skipIf(!isRunnable('re_serialises.py')).concurrent(
    'that hashes re-serialized JSON fails with a hint to hash the bytes',
    async () => {
      const { lines } = await testing(commandOf('broken/re_serialises.py'), ['--only', 'track']);
      expect(lines[0]?.diagnosis).toEqual({
        code: 'python-json',
        says: 'it hashes re-serialized JSON: it accepts what is signed as json.dumps of Python writes it',
        hint: expect.stringContaining('hash the bytes of the body as received') as string,
        confidence: 'proved',
      });
    },
  );
});
