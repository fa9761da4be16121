import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectRejected } from '../cli/expect-rejected.ts';
import { freePort } from '../free-port.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks, startHooks } from '../cli/run-in-process.ts';
import { nextJson } from './running-command.ts';

const SEND = ['send', 'track', '--user-id', 'u1', '--event', 'Signup'];

describe('short forms', () => {
  it('of listen and send accept a port alone, with a path, and localhost without a scheme', async () => {
    const port = await freePort();
    const listen = startHooks(['listen', String(port), '-o', 'json']);
    expect(await nextJson(listen)).toMatchObject({ ready: true, url: `http://127.0.0.1:${port}` });
    for (const [url, path] of [
      [`${port}`, '/'],
      [`:${port}/a?b=c`, '/a?b=c'],
      [`localhost:${port}/hook`, '/hook'],
    ] as const) {
      expect(await hooks([...SEND, '--url', url, '-H', 'X-Env: staging'])).toMatchObject({ code: 0 });
      expect(await nextJson(listen)).toMatchObject({ path, verdict: 'unchecked' });
    }
    await listen.stop();
  });

  it('of listen are -p for --port, and a port for --forward', async () => {
    const target = startHooks(['listen', '-p', '0', '-o', 'json']);
    const { url } = await nextJson(target);
    const { port } = new URL(String(url));
    const front = startHooks(['listen', '-p', '0', '-o', 'json', '--forward', `:${port}/behind`]);
    const ready = await nextJson(front);
    expect(await hooks([...SEND, '--url', String(ready['url'])])).toMatchObject({ code: 0 });
    expect(await nextJson(target)).toMatchObject({ path: '/behind' });
    await front.stop();
    await target.stop();
  });

  it('of send are -n for --dry-run', async () => {
    const { code, stdout } = await hooks([...SEND, '--url', 'https://a.invalid/hook', '-n']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^POST https:\/\/a\.invalid\/hook\n/);
  });

  it('do not add a scheme to another host', async () => {
    await expectRejected([...SEND, '--url', 'a.example:3000/hook'], 'write it in full: https://host/path');
  });
});

describe('the certificate of listen --self-signed', () => {
  it('is written by --cert-out and trusted by --ca of send, replay, test and listen', async () => {
    const folder = temporaryFolder({ 'one.json': '{"type":"track","userId":"u1","event":"A"}' });
    const file = join(folder, 'cert.pem');
    const listen = startHooks(['listen', '-p', '0', '--self-signed', '--cert-out', file, '-o', 'json']);
    const { url, certificate } = await nextJson(listen);
    expect(readFileSync(file, 'utf8')).toBe(certificate);
    const to = String(url);
    const options = { cwd: folder };
    expect(await hooks([...SEND, '--url', to, '--retry-for', '0'], options)).toMatchObject({ code: 1 });
    expect(await hooks([...SEND, '--url', to, '--ca', 'cert.pem'], options)).toMatchObject({ code: 0 });
    const replayed = await hooks(['replay', 'one.json', '--url', to, '--ca', 'cert.pem'], options);
    expect(replayed.code).toBe(0);
    const checked = await hooks(['test', to, '--only', 'track', '--ca', 'cert.pem'], options);
    expect(checked.stdout + checked.stderr).toMatch(/1 passed/);
    const front = startHooks(['listen', '-p', '0', '--forward', to, '--ca', file, '-o', 'json']);
    const ready = await nextJson(front);
    expect(await hooks([...SEND, '--url', String(ready['url'])])).toMatchObject({ code: 0 });
    await front.stop();
    await listen.stop();
  });

  it('is rejected if the file of --ca is not a certificate', async () => {
    const folder = temporaryFolder({ 'no.pem': 'nothing' });
    for (const args of [
      [...SEND, '--url', 'https://127.0.0.1:9/'],
      ['listen', '--forward', 'https://127.0.0.1:9/'],
    ]) {
      await expectRejected([...args, '--ca', 'no.pem'], 'Expected `--ca` to be a PEM file of certificates', {
        cwd: folder,
      });
    }
  });

  it.each([
    [['listen', '--ca', 'a.pem'], '`--ca` is for `--forward`'],
    [['listen', '--cert-out', 'a.pem'], '`--cert-out` is for `--self-signed`'],
  ])('is rejected with the wrong flags: %j', async (args, sentence) => {
    await expectRejected(args, sentence);
  });
});
