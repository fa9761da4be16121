import { mkdir, readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectRejected } from './expect-rejected.ts';
import { hooks as runBuilt } from '../end-to-end/hooks.ts';
import { jsonLines } from '../end-to-end/receiving.ts';
import { hooks } from './run-in-process.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const VALUES = '{ "webhooks": ["https://a.example/hook"], "delivery": { "timeout": "7s" } }';

interface Row {
  readonly key: string;
  readonly value: unknown;
  readonly origin: string;
}

async function rowsIn(cwd: string, args: readonly string[] = [], env = {}): Promise<readonly Row[]> {
  const { code, stdout, stderr } = await hooks(['config', '-o', 'json', ...args], {
    cwd,
    // With CI set, the first run of code in a folder is not announced.
    env: { CI: 'true', ...env },
  });
  expect([code, stderr]).toEqual([0, '']);
  return jsonLines<Row>(stdout);
}

const rowOf = (rows: readonly Row[], key: string): Row | undefined => rows.find((row) => row.key === key);

describe('hooks config', () => {
  it('prints every setting with its value and origin', async () => {
    const cwd = temporaryFolder({ '.hooksrc.json': VALUES });
    const { code, stdout, stderr } = await hooks(['config'], {
      cwd,
      env: { HOOKS_ENDPOINT: 'https://api.example' },
    });
    expect([code, stderr]).toEqual([0, '']);
    expect(stdout).toMatch(/^webhooks +https:\/\/a\.example\/hook +\.hooksrc\.json$/m);
    expect(stdout).toMatch(/^delivery\.timeout +7s +\.hooksrc\.json$/m);
    expect(stdout).toMatch(/^delivery\.retryFor +4h +default$/m);
    expect(stdout).toMatch(/^endpoint +https:\/\/api\.example +HOOKS_ENDPOINT$/m);
    expect(stdout).toMatch(/^sharedSecret +- +default$/m);
    const origins = stdout
      .trimEnd()
      .split('\n')
      .map((line) => line.search(/\S+$/));
    expect(new Set(origins).size).toBe(1);
  });

  it.each([
    ['.hooksrc', VALUES],
    ['.hooksrc.yaml', 'webhooks: [https://a.example/hook]\ndelivery: { timeout: 7s }'],
    ['.hooksrc.yml', 'webhooks: [https://a.example/hook]\ndelivery: { timeout: 7s }'],
    ['.hooksrc.json', VALUES],
    ['.hooksrc.js', `module.exports = ${VALUES}`],
    ['.hooksrc.cjs', `module.exports = ${VALUES}`],
    ['.hooksrc.mjs', `export default ${VALUES}`],
    ['.hooksrc.ts', `const values: object = ${VALUES}; export default values;`],
    ['hooks.config.js', `export default ${VALUES}`],
    [
      'hooks.config.cjs',
      `exports.webhooks = ['https://a.example/hook']; exports.delivery = { timeout: '7s' };`,
    ],
    ['hooks.config.mjs', `export default await Promise.resolve(${VALUES})`],
    ['hooks.config.ts', `export default ${VALUES} satisfies object`],
    ['package.json', `{ "hooks": ${VALUES} }`],
  ])('reads %s', async (name, text) => {
    const cwd = temporaryFolder({ [name]: text });
    const rows = await rowsIn(cwd);
    expect(rowOf(rows, 'delivery.timeout')).toEqual({ key: 'delivery.timeout', value: '7s', origin: name });
    expect(rowOf(rows, 'webhooks')?.value).toEqual(['https://a.example/hook']);
  });

  it('prefers a variable to the project, the project to the user, and the user to the default', async () => {
    const folder = temporaryFolder({
      'user/hooks/config.yaml': 'client: { flushAt: 1, maxQueued: 1 }\nwebhooks: [http://user]',
      'project/package.json': '{}',
      'project/.hooksrc': 'client: { flushAt: 2 }\nwebhooks: [http://project]',
      'project/src/x': '',
    });
    const env = { XDG_CONFIG_HOME: join(folder, 'user'), HOOKS_URL: 'http://env' };
    const rows = await rowsIn(join(folder, 'project/src'), [], env);
    const user = join(folder, 'user/hooks/config.yaml');
    expect(rowOf(rows, 'webhooks')).toMatchObject({ value: ['http://env'], origin: 'HOOKS_URL' });
    expect(rowOf(rows, 'client.flushAt')).toMatchObject({ value: 2, origin: '../.hooksrc' });
    expect(rowOf(rows, 'client.maxQueued')).toMatchObject({ value: 1 });
    expect(join(folder, 'project/src', rowOf(rows, 'client.maxQueued')?.origin ?? '')).toBe(user);
    expect(rowOf(rows, 'client.whenFull')).toMatchObject({ value: 'wait', origin: 'default' });
  });

  it('reads the file of -c, and no file with --no-config', async () => {
    const cwd = temporaryFolder({ '.hooksrc': 'store: redis://a', 'other.yaml': 'store: redis://b' });
    expect(rowOf(await rowsIn(cwd, ['-c', 'other.yaml']), 'store')?.value).toBe('redis://b');
    expect(rowOf(await rowsIn(cwd, ['--no-config'], { HOOKS_CONFIG: 'other.yaml' }), 'store')?.value).toBe(
      null,
    );
    expect(rowOf(await rowsIn(cwd, [], { HOOKS_CONFIG: 'other.yaml' }), 'store')?.origin).toBe('other.yaml');
  });

  it('prints the file in use with -v', async () => {
    const cwd = temporaryFolder({ '.hooksrc': '' });
    expect((await hooks(['config', '-v'], { cwd })).stderr).toBe('config: .hooksrc\n');
    expect((await hooks(['config', '-v', '--no-config'], { cwd })).stderr).toBe('config: no file\n');
  });

  it('prints references as written, and which of them are not set', async () => {
    const cwd = temporaryFolder({ '.hooksrc': 'sharedSecret: ${CANARY}\nwriteKey: ${NONE}' });
    const { stdout } = await hooks(['config'], { cwd, env: { CANARY: 'canary' } });
    expect(stdout).toMatch(/^sharedSecret +\$\{CANARY\} +\.hooksrc$/m);
    expect(stdout).toMatch(/^writeKey +\$\{NONE\} +\.hooksrc \(NONE: not set\)$/m);
    expect(stdout).not.toContain('canary');
  });

  it('escapes control characters', async () => {
    const cwd = temporaryFolder({ '.hooksrc.yaml': 'store: "redis://a\\e[31m"' });
    const { stdout } = await hooks(['config'], { cwd });
    expect(stdout).toContain('redis://a\\u001b[31m');
  });

  it.each([
    ['hooks.config.mjs', 'export default {\n webhooks: [ }', "not valid code: Unexpected token '}'"],
    ['hooks.config.js', '\nexport default { webhooks: [ }', "not valid code: Unexpected token '}'"],
    ['hooks.config.cjs', 'module.exports = {\n webhooks: [ }', "not valid code: Unexpected token '}'"],
    ['hooks.config.ts', '\nthrow new Error("no luck")', 'the config cannot be used: no luck'],
    ['.hooksrc.mjs', "export default {\n secret: 'a' canary }", 'not valid code: Unexpected identifier'],
  ])('exits with 2 if %s is broken', async (name, text, error) => {
    const cwd = temporaryFolder({ [name]: text });
    const stderr = await expectRejected(['config'], `error: ${name}:2: ${error}`, { run: runBuilt, cwd });
    expect(stderr).not.toContain('canary');
  });

  it('ignores a malformed package.json', async () => {
    const cwd = temporaryFolder({ 'package.json': '{ "hooks": ', '.hooksrc': 'store: redis://a' });
    expect(rowOf(await rowsIn(cwd), 'store')?.value).toBe('redis://a');
  });

  it('leaves no files behind', async () => {
    const cwd = temporaryFolder({ 'hooks.config.ts': 'export default {}' });
    await mkdir(join(cwd, 'home'));
    await rowsIn(cwd, [], { HOME: join(cwd, 'home'), TMPDIR: join(cwd, 'home') });
    expect((await readdir(cwd, { recursive: true })).toSorted()).toEqual(['home', 'hooks.config.ts']);
  });
});
