import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectRejected } from '../cli/expect-rejected.ts';
import { freePort } from '../free-port.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks, startHooks, type RunningHooks } from '../cli/run-in-process.ts';

const SIGNUP = ['send', 'track', '--event', 'Signup', '--user-id', 'u1'];

async function nextJson({ lines }: RunningHooks): Promise<Record<string, unknown>> {
  const { value = '{}' } = await lines.next();
  return JSON.parse(value) as Record<string, unknown>;
}

describe('short forms', () => {
  it('listen PORT listens there, and send takes the port alone, with a path, and localhost without a scheme', async () => {
    const port = await freePort();
    const listen = startHooks(['listen', String(port), '-o', 'json']);
    expect(await nextJson(listen)).toMatchObject({ ready: true, url: `http://127.0.0.1:${port}` });
    for (const [url, path] of [
      [`${port}`, '/'],
      [`:${port}/a?b=c`, '/a?b=c'],
      [`localhost:${port}/hook`, '/hook'],
    ] as const) {
      expect(await hooks([...SIGNUP, '--url', url, '-H', 'X-Env: staging'])).toMatchObject({ code: 0 });
      expect(await nextJson(listen)).toMatchObject({ path, verdict: 'unchecked' });
    }
    await listen.stop();
  });

  it('listen --forward takes a port, and -p is --port', async () => {
    const target = startHooks(['listen', '-p', '0', '-o', 'json']);
    const { url } = await nextJson(target);
    const { port } = new URL(String(url));
    const front = startHooks(['listen', '-p', '0', '-o', 'json', '--forward', `:${port}/behind`]);
    const ready = await nextJson(front);
    expect(await hooks([...SIGNUP, '--url', String(ready['url'])])).toMatchObject({ code: 0 });
    expect(await nextJson(target)).toMatchObject({ path: '/behind' });
    await front.stop();
    await target.stop();
  });

  it('-n is --dry-run, and sends nothing', async () => {
    const { code, stdout } = await hooks([...SIGNUP, '--url', 'https://a.invalid/hook', '-n']);
    expect(code).toBe(0);
    expect(stdout).toMatch(/^POST https:\/\/a\.invalid\/hook\n/);
  });

  it('another host is never given a scheme', async () => {
    await expectRejected([...SIGNUP, '--url', 'a.example:3000/hook'], 'write it in full: https://host/path');
  });
});

describe('a certificate of a receiver of our own', () => {
  it('is written by --cert-out and trusted by --ca of send, replay, test and listen', async () => {
    const folder = temporaryFolder({ 'one.json': '{"type":"track","userId":"u1","event":"A"}' });
    const file = join(folder, 'cert.pem');
    const listen = startHooks(['listen', '-p', '0', '--self-signed', '--cert-out', file, '-o', 'json']);
    const { url, certificate } = await nextJson(listen);
    expect(readFileSync(file, 'utf8')).toBe(certificate);
    const to = String(url);
    const options = { cwd: folder };
    expect(await hooks([...SIGNUP, '--url', to, '--retry-for', '0'], options)).toMatchObject({ code: 1 });
    expect(await hooks([...SIGNUP, '--url', to, '--ca', 'cert.pem'], options)).toMatchObject({ code: 0 });
    expect(await hooks(['replay', 'one.json', '--url', to, '--ca', 'cert.pem'], options)).toMatchObject({
      code: 0,
    });
    const checked = await hooks(['test', to, '--only', 'track', '--ca', 'cert.pem'], options);
    expect(checked.stdout + checked.stderr).toMatch(/1 passed/);
    const front = startHooks(['listen', '-p', '0', '--forward', to, '--ca', file, '-o', 'json']);
    const ready = await nextJson(front);
    expect(await hooks([...SIGNUP, '--url', String(ready['url'])])).toMatchObject({ code: 0 });
    await front.stop();
    await listen.stop();
  });

  it('a file that is no certificate is exit 2, and the sentence names --ca', async () => {
    const folder = temporaryFolder({ 'no.pem': 'nothing' });
    for (const args of [
      [...SIGNUP, '--url', 'https://127.0.0.1:9/'],
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
  ])('%j is exit 2', async (args, sentence) => {
    await expectRejected(args, sentence);
  });
});
