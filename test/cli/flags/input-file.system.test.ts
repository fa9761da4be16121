// Needs mkfifo and cat. Reads endless files and pipes with forty processes, under a limit of memory.
import { execFileSync } from 'node:child_process';
import { readdirSync, readFileSync, readlinkSync, truncateSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeEach, describe, expect, it } from 'vitest';
import { startHooks } from '../../end-to-end/hooks.ts';
import { track } from '../../end-to-end/receiving.ts';
import { inShell } from '../../end-to-end/shell.ts';
import { sign } from '../../sign.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';

const NOWHERE = 'https://127.0.0.1:9';
const CERTIFICATES = readFileSync(new URL('../../certificates.json', import.meta.url), 'utf8');
const { 'ca.pem': ISSUER = '' } = JSON.parse(CERTIFICATES) as Record<string, string>;

const CA = /`--ca` .*FILE \(larger than 32 MiB\)/;
const SEND = ['send', 'track', '--event', 'a'];

/** Every flag and argument whose file is read as a whole, with the error for an endless file. */
const WHOLE: readonly (readonly [args: readonly string[], error: RegExp])[] = [
  [['config', '-c', 'FILE'], /The config file FILE is larger than 32 MiB \(--config\)/],
  [['doctor', '-c', 'FILE'], /The config file FILE is larger than 32 MiB \(--config\)/],
  [[...SEND, '--url', NOWHERE, '--ca', 'FILE'], CA],
  [['test', NOWHERE, '--ca', 'FILE'], CA],
  [['listen', '--port', '0', '--forward', NOWHERE, '--ca', 'FILE'], CA],
  [['expect', '--schema', 'FILE', '--', 'true'], /FILE: is larger than 32 MiB \(--schema\)/],
  [['expect', '--snapshot', 'FILE', '--', 'true'], /FILE: is larger than 32 MiB \(--snapshot\)/],
  [['test', NOWHERE, '--capture', 'FILE'], /FILE: is larger than 32 MiB \(--capture\)/],
  [['sign', '--secret-file', 'FILE'], /FILE: the secret is larger than 64 KiB \(--secret-file\)/],
  [['send', '--json', '@FILE', '--loopback'], /FILE: is larger than 1024 KiB \(--json\)/],
  [[...SEND, '--properties', '@FILE', '--loopback'], /FILE: is larger than 1024 KiB \(--properties\)/],
];
/** Arguments whose files are read in chunks and can have any length. */
const STREAMED: readonly (readonly string[])[] = [
  ['verify', '--secret', 's', '--signature', 'a'.repeat(40), 'FILE'],
  ['sign', '--secret', 's', 'FILE'],
  ['replay', 'FILE', '--loopback'],
  ['audience', 'sync', 'VIP', 'FILE', '--loopback'],
  ['test', NOWHERE, '--state', 'true', '--reset', 'true', '--messages', 'FILE'],
];

const named = (args: readonly string[], file: string): string[] =>
  args.map((word) => word.replace('FILE', file));

let cwd: string;
let env: Record<string, string>;
beforeEach(() => {
  cwd = temporaryFolder({ 'body.json': track(1) });
  env = { HOOKS_DATA_DIR: join(cwd, 'data') };
});

describe('an endless file', () => {
  it.each(WHOLE)('is rejected by %j, with the flag, the file and the limit', async (args, error) => {
    // More memory than any command needs, and less than an endless file fills in seconds.
    const line = 'ulimit -d 1500000 && hooks "$@"';
    const { code, stdout, stderr } = await inShell(line, named(args, '/dev/zero'), { cwd, env });
    expect(stdout + stderr).toMatch(new RegExp(error.source.replace('FILE', '/dev/zero')));
    expect(code).toBe(args[0] === 'doctor' ? 1 : 2);
  });

  it('is rejected as a config and as the file of delivery.ca', async () => {
    writeFileSync(join(cwd, '.hooksrc.json'), '{}');
    truncateSync(join(cwd, '.hooksrc.json'), 3 * 1024 ** 3);
    const found = await startHooks(['config'], { cwd, env }).exited;
    expect(found.stderr).toContain('The config file .hooksrc.json is larger than 32 MiB\n');
    const config = { webhooks: [NOWHERE], delivery: { ca: '/dev/zero' } };
    writeFileSync(join(cwd, 'ca.json'), JSON.stringify(config));
    const args = [...SEND, '-c', 'ca.json', '--retry-for', '0'];
    const { code, stderr } = await startHooks(args, { cwd, env }).exited;
    expect([code, stderr]).toEqual([2, expect.stringContaining('/dev/zero (larger than 32 MiB)')]);
  });
});

describe('a pipe without a writer', () => {
  it.concurrent.each([...WHOLE.map(([args]) => args), ...STREAMED].map((args) => [args]))(
    'is waited for until SIGTERM ends %j with 143',
    async (args) => {
      const folder = temporaryFolder();
      const pipe = join(folder, 'pipe');
      execFileSync('sh', ['-c', 'mkfifo "$0"', pipe]);
      const place = { cwd: folder, env: { HOOKS_DATA_DIR: join(folder, 'data') } };
      const running = startHooks(named(args, pipe), place);
      await until(() => isOpen(running.child.pid, pipe), 'the opening of the pipe', { seconds: 30 });
      const { code, signal } = await running.stop('SIGTERM');
      expect([code, signal]).toEqual([143, null]);
    },
  );
});

describe('a pipe', () => {
  it.each([
    ['body.json', ['verify', '--secret', 's', '--signature', sign(track(1), 's'), 'FILE'], '"valid":true'],
    ['body.json', ['replay', 'FILE', '--loopback'], '"delivered":1'],
    ['body.json', ['send', '--json', '@FILE', '--loopback'], '"delivered"'],
    ['config.yaml', ['config', '-c', 'FILE'], 'a.example'],
    ['ca.pem', ['test', 'https://127.0.0.1:9', '--only', 'track', '--ca', 'FILE'], 'refused'],
    ['ca.pem', [...SEND, '--url', NOWHERE, '--ca', 'FILE', '--retry-for', '0'], 'refused'],
    ['secret', ['sign', '--secret-file', 'FILE', 'body.json'], sign(track(1), 's')],
  ])('with the content of %s is read by %j', async (file, args, expected) => {
    writeFileSync(join(cwd, 'config.yaml'), 'webhooks: [https://a.example/]\n');
    writeFileSync(join(cwd, 'ca.pem'), ISSUER);
    writeFileSync(join(cwd, 'secret'), 's\n');
    const [verb = '', ...others] = args;
    for (const line of [
      `mkfifo p; (sleep 0.1; cat ${file}) > p & hooks "$@"; wait`,
      `(sleep 0.1; cat ${file}) | hooks "$@"`,
    ]) {
      const path = line.startsWith('mkfifo') ? 'p' : '/dev/fd/0';
      const { stdout, stderr } = await inShell(line, [verb, '-o', 'json', ...named(others, path)], {
        cwd,
        env,
      });
      expect(stdout + stderr).toContain(expected);
    }
  });
});

it('hooks verify reads a file of a gigabyte', async () => {
  writeFileSync(join(cwd, 'large'), '');
  truncateSync(join(cwd, 'large'), 1024 ** 3);
  const args = ['verify', '--secret', 's', '--signature', 'a'.repeat(40), 'large'];
  const { code, stdout } = await startHooks(args, { cwd, env }).exited;
  expect([code, stdout]).toEqual([1, expect.stringContaining('does not match')]);
});

/** Whether a process has the file open. */
function isOpen(pid: number | undefined, file: string): boolean {
  const folder = `/proc/${pid}/fd`;
  return readdirSync(folder).some((name) => targetOf(join(folder, name)) === file);
}

/** Returns undefined if the descriptor was closed after its folder was read. */
function targetOf(descriptor: string): string | undefined {
  try {
    return readlinkSync(descriptor);
  } catch {
    return undefined;
  }
}
