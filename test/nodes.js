// Packs the package, installs the tarball as a user would (no install scripts) and runs it on each supported Node.
// `npm run test:nodes` or `node test/nodes.js 24 26`.
import { execFileSync, spawnSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';

const ROOT = fileURLToPath(new URL('..', import.meta.url));
const SECRET = 'hooks-fixture-secret';
/** Maximum size on the disk of the package and its dependencies. */
const MAX_INSTALLED_MB = 25;
/** Versions that need a package for SQLite. */
const WITHOUT_SQLITE = ['20'];
const versions = process.argv.slice(2).length > 0 ? process.argv.slice(2) : ['20', '22', '24', '26'];

const folder = mkdtempSync(join(tmpdir(), 'hooks-nodes-'));
try {
  // npm pack builds first, unless the build is skipped.
  const isBuilt = process.env.HOOKS_TEST_SKIP_BUILD ? ['--ignore-scripts'] : [];
  run('npm', ['pack', '--silent', ...isBuilt, '--pack-destination', folder], ROOT);
  const tarball = join(folder, readdirSync(folder)[0]);
  let failed = 0;
  for (const version of versions) failed += check(version, tarball) ? 0 : 1;
  process.stdout.write(`${versions.length - failed} passed, ${failed} failed\n`);
  process.exitCode = failed === 0 ? 0 : 1;
} finally {
  rmSync(folder, { recursive: true, force: true });
}

function check(version, tarball) {
  const home = join(folder, `node-${version}`);
  try {
    mkdirSync(home);
    const program = install(version, tarball, home);
    const megabytes = sizeOf(join(home, 'node_modules')) / 1024 / 1024;
    expect(megabytes <= MAX_INSTALLED_MB, `installed ${megabytes} MB`);
    const on = (...words) => run(program, words, home);
    const hooks = join(home, 'node_modules/hooks-cli/bin/hooks.js');
    const fixtures = join(home, 'node_modules/hooks-cli/fixtures');
    const used = on('--version').trim();
    const replay = on(hooks, 'replay', `${fixtures}/*.json`, '--loopback', '--no-config', '-o', 'json');
    const { summary } = JSON.parse(replay.trim().split('\n').at(-1));
    expect(summary.delivered === 7, `delivered ${summary.delivered} of 7`);
    if (WITHOUT_SQLITE.includes(version)) install(version, requiredPackage(home, [program, hooks]), home);
    queue(home, (...words) => on(hooks, ...words));
    const verdict = on(
      hooks,
      'verify',
      '--secret',
      SECRET,
      '-o',
      'json',
      join(fixtures, 'captures/track.json'),
    );
    expect(JSON.parse(verdict).valid === true, verdict);
    on(
      '--input-type=module',
      '-e',
      "const { sign } = await import('hooks-cli'); if (sign('', 'k').length !== 40) throw 1;",
    );
    if (version !== '20') compileCache(program);
    process.stdout.write(`ok   node ${used}, installed ${megabytes.toFixed(1)} MB\n`);
    return true;
  } catch (error) {
    process.stdout.write(
      `FAIL node ${version}: ${error.message}\n${error.stdout ?? ''}${error.stderr ?? ''}\n`,
    );
    return false;
  }
}

/** Installs a package with this Node. Returns the path of its program, because npx would add a second to each command. */
function install(version, name, home) {
  // npm 12 blocks install scripts by default; older versions need a flag.
  const npm = version === '20' ? 'npm@11' : 'npm@12';
  const command = `npm install --silent --ignore-scripts --prefix '${home}' '${name}' && node -p process.execPath`;
  const told = run('npx', ['-y', '-p', `node@${version}`, '-p', npm, '-c', command], home);
  return told.trim().split('\n').at(-1);
}

/** Size on the disk in bytes. */
function sizeOf(path) {
  const status = lstatSync(path);
  const entries = status.isDirectory() ? readdirSync(path) : [];
  return entries.reduce((bytes, name) => bytes + sizeOf(join(path, name)), status.blocks * 512);
}

/** Tests that a queue is rejected before a file is created. Returns the package that the error names. */
function requiredPackage(home, [program, ...args]) {
  const { status, stderr } = spawnSync(program, [...args, ...queueing(home)], {
    cwd: home,
    encoding: 'utf8',
  });
  expect(status === 2 && !existsSync(join(home, 'hooks.db')), `exit code ${status} without SQLite`);
  const [, name] = /`npm install (\S+)`/.exec(stderr) ?? [];
  expect(name !== undefined, stderr);
  return name;
}

/** The words of a command that queues a message. */
function queueing(home) {
  const config = join(home, 'hooks.json');
  const settings = { webhooks: ['http://127.0.0.1:9/hook'], sharedSecret: SECRET };
  writeFileSync(config, JSON.stringify(settings));
  return ['send', 'track', '--event', 'Signup', '--user-id', 'u1', '--queue', ...flagsOfQueue(home)];
}

function flagsOfQueue(home) {
  return ['--store', `sqlite:${join(home, 'hooks.db')}`, '-c', join(home, 'hooks.json'), '-o', 'json'];
}

/** Tests the durable queue with the SQLite of Node, or with the package of SQLite without its install script. */
function queue(home, hooks) {
  const sent = JSON.parse(hooks(...queueing(home)));
  expect(sent.outcome === 'queued', `outcome ${sent.outcome}`);
  const empty = join(home, 'empty.ndjson');
  writeFileSync(empty, JSON.stringify({ capture: 1, method: 'POST', url: '/', headers: [], body: '' }));
  hooks('replay', empty, '--exact', '--queue', ...flagsOfQueue(home));
  const { total } = JSON.parse(
    hooks('queue', 'stats', ...flagsOfQueue(home))
      .trim()
      .split('\n')
      .at(-1),
  );
  expect(total.pending === 2, `pending ${total.pending}`);
}

/** Runs the tests of the compile cache, which Node 20 does not have. */
function compileCache(program) {
  const vitest = join(ROOT, 'node_modules/vitest/vitest.mjs');
  const words = ['run', '--config', 'test/vitest.config.ts', '--project', 'built', 'test/cli/compile-cache'];
  execFileSync(program, [vitest, ...words], {
    cwd: ROOT,
    encoding: 'utf8',
    timeout: 400_000,
    stdio: 'pipe',
    env: { ...process.env, HOOKS_TEST_SKIP_BUILD: '1' },
  });
}

function expect(holds, otherwise) {
  if (!holds) throw new Error(otherwise);
}

function run(command, words, cwd) {
  return execFileSync(command, words, {
    cwd,
    encoding: 'utf8',
    timeout: 400_000,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
}
