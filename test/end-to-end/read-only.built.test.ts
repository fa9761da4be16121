import { spawnSync } from 'node:child_process';
import { chmodSync, readdirSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectRejected } from '../cli/expect-rejected.ts';
import { answersOk } from '../hostile-receivers.ts';
import { started } from '../transport/sending.ts';
import { hooks as hooksHere, startHooks } from '../cli/run-in-process.ts';
import { messagesFile, replay, replayed, send, SEND } from './delivering.ts';
import { BINARY, hooks } from './hooks.ts';
import { slowReceiver } from './slow-receiver.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** A folder in which even root cannot create a file. */
const READ_ONLY = process.platform === 'linux' ? '/sys' : '/System';

/** A user without a name. Only root can become another user, who may be unable to read a checkout in root's home. */
const STRANGER = { uid: 54_321, gid: 54_321 };
const MAY_BE_A_STRANGER =
  process.getuid?.() === 0 && spawnSync(process.execPath, [BINARY, '--version'], STRANGER).status === 0;

async function answering(): Promise<string> {
  return (await started(answersOk())).url;
}

async function longReplay() {
  const { url } = await started(slowReceiver(5));
  return { url, dataDir: join(temporaryFolder(), 'data'), file: await messagesFile(3_000) };
}

describe('a folder that cannot be written', () => {
  it('does not prevent send and replay', async () => {
    const url = await answering();
    const file = await messagesFile(3);
    expect(await send([url], [], { cwd: READ_ONLY })).toMatchObject({ code: 0 });
    expect(await replay(file, url, [], { cwd: READ_ONLY })).toMatchObject({ code: 0, stderr: '' });
    expect(await hooks([...SEND, '--loopback', '-q'], { cwd: READ_ONLY })).toMatchObject({ code: 0 });
  });

  it.each([
    ['a read-only folder', READ_ONLY],
    ['below a file', '/dev/null/data'],
    ['in /proc', '/proc/nowhere/data'],
  ])('as HOOKS_DATA_DIR (%s) prevents only that a replay is resumed', async (_what, dataDir) => {
    const [url, file, env] = [await answering(), await messagesFile(3), { HOOKS_DATA_DIR: dataDir }];
    expect(await replay(file, url, ['--limit', '2'], { run: hooksHere, env })).toMatchObject({
      code: 0,
      stderr: '',
      summary: { delivered: 2 },
    });
    expect((await replay(file, url, ['-v'], { run: hooksHere, env })).stderr).toContain(
      `not resumable if interrupted: ${dataDir}`,
    );
    const resumed = await hooksHere(['replay', file, '--url', url, '--resume'], { env });
    expect([resumed.code, resumed.stdout]).toEqual([2, '']);
    expect(resumed.stderr).toMatch(/^error: .*cannot be written: [^\n]+\nhint: .*HOOKS_DATA_DIR\n$/);
  });

  it.each([
    ['--report', 'report.xml'],
    ['--report', 'report.json'],
    ['--report', '/dev/null/report.json'],
    ['--failed', 'failed.ndjson'],
    ['--failed', '/dev/null/failed.ndjson'],
  ])('is reported for %s %s before anything is sent', async (flag, file) => {
    const receiver = await started(answersOk());
    const args = ['replay', await messagesFile(3), '--url', receiver.url, flag, file];
    await expectRejected(args, /^error: .*(report|failed)\.\w+: cannot be written: .*\nhint: .*\n$/, {
      cwd: READ_ONLY,
    });
    expect(receiver.connections).toBe(0);
  });

  it.each([READ_ONLY, '/dev/null/captures', '/proc/nowhere/captures'])(
    'is reported for --save %s before it listens',
    async (folder) => {
      const save = folder === READ_ONLY ? join(folder, 'captures') : folder;
      await expectRejected(
        ['listen', '--port', '0', '--save', save],
        /^error: Cannot save captures in .*\(--save\)\nhint: .*\n$/,
      );
    },
  );
});

describe('a data folder that is removed while a replay runs', () => {
  it('does not make a delivery fail', async () => {
    const { url, dataDir, file } = await longReplay();
    const running = startHooks(['replay', file, '--url', url, '-o', 'json', '--limit', '200'], {
      env: { HOOKS_DATA_DIR: dataDir },
    });
    await running.lines.next();
    rmSync(dataDir, { recursive: true });
    const { code, summary, stderr } = replayed(await running.exited);
    expect([code, summary.delivered, stderr]).toEqual([0, 200, '']);
  });

  it('is reported when the replay is interrupted', async () => {
    const { url, dataDir, file } = await longReplay();
    const running = startHooks(['replay', file, '--url', url, '-o', 'json'], {
      env: { HOOKS_DATA_DIR: dataDir },
    });
    await running.lines.next();
    rmSync(dataDir, { recursive: true });
    const { code, summary, stderr } = replayed(await running.stop());
    expect(code).toBe(130);
    expect(summary.read).toBe(summary.delivered + summary.unsent);
    expect(stderr).toMatch(
      /^--resume cannot continue from here: .*cannot be written: there is no such folder\nhint: .*\n$/,
    );
  });
});

describe('a user without a home', () => {
  const HOMELESS = { HOME: '', XDG_CONFIG_HOME: '', HOOKS_DATA_DIR: '' };

  it('can send and replay, which leaves nothing in the current folder', async () => {
    const [url, cwd] = [await answering(), temporaryFolder()];
    expect(await send([url], [], { cwd, env: HOMELESS })).toMatchObject({ code: 0 });
    expect(await replay(await messagesFile(3), url, ['--limit', '2'], { cwd, env: HOMELESS })).toMatchObject({
      code: 0,
      stderr: '',
    });
    expect(readdirSync(cwd)).toEqual([]);
  });

  it('is told how to resume', async () => {
    const args = ['replay', await messagesFile(3), '--loopback', '--resume'];
    await expectRejected(
      args,
      /^error: There is no data folder: this user has no home folder\nhint: .*HOOKS_DATA_DIR.*\n$/,
      { run: hooks, env: HOMELESS },
    );
  });

  it.skipIf(!MAY_BE_A_STRANGER)('and without a name can replay', () => {
    const input = '{"type":"track","event":"e","userId":"u"}';
    const replaying = asStranger(['replay', '-', '--loopback', '-o', 'json'], { input });
    expect(replaying).toMatchObject({ status: 0, stderr: '' });
  });

  it.skipIf(!MAY_BE_A_STRANGER)(
    'learns from doctor that no queue can be created in the folder of another user',
    () => {
      const folder = temporaryFolder();
      chmodSync(folder, 0o755);
      const env = { HOOKS_DATA_DIR: join(folder, 'data') };
      const { status, stdout } = asStranger(['doctor', '--no-config'], { env });
      expect(status).toBe(1);
      expect(stdout).toContain(`cannot be created: this user may not write to the folder ${folder}`);
    },
  );
});

function asStranger(args: readonly string[], { env = {}, input = '' } = {}) {
  const { PATH = '' } = process.env;
  const options = { ...STRANGER, input, env: { PATH, ...env }, cwd: '/', timeout: 20_000 } as const;
  return spawnSync(process.execPath, [BINARY, ...args], { ...options, encoding: 'utf8' });
}
