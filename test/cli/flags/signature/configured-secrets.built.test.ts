import { describe, expect, it } from 'vitest';
import { sign } from '../../../../src/signature/sign.ts';
import { errorOf } from '../../expect-rejected.ts';
import { hooks, type HooksResult } from '../../run-in-process.ts';
import { listening } from '../../../end-to-end/listening.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';

const BODY = '{"type":"page"}';

function source(destinations: Readonly<Record<string, object>>): object {
  return { destinations };
}

function signedWith(...sharedSecret: readonly string[]): object {
  return { sharedSecret, webhooks: ['http://127.0.0.1:9/'] };
}

/** Runs a command in a folder whose config has these sources. */
function withSources(
  sources: Readonly<Record<string, object>>,
  args: readonly string[],
  env: Readonly<Record<string, string>> = {},
): Promise<HooksResult> {
  const cwd = temporaryFolder({ '.hooksrc.json': JSON.stringify({ sources }) });
  return hooks(args, { cwd, env, stdin: BODY });
}

const APART = { web: source({ Webhooks: signedWith('one') }), app: source({ Webhooks: signedWith('two') }) };
const REFUSAL =
  'error: The sources have different secrets (from .hooksrc.json)\n' +
  'hint:  give the one that signs: --secret, --secret-file FILE or HOOKS_SECRET\n';

describe('the secrets of several sources', () => {
  it('all verify', async () => {
    const args = ['verify', '--signature', sign(BODY, 'two'), '-o', 'json'];
    const { code, stdout } = await withSources(APART, args);
    expect([code, JSON.parse(stdout)]).toEqual([0, { valid: true, secret: 2, over: 'bytes' }]);
  });

  it.each(['one', 'two'])('all verify for expect', async (secret) => {
    const send = `fetch(process.env.HOOKS_URL, { method: 'POST', body: '{}', headers: { 'X-Signature': '${sign('{}', secret)}' } })`;
    const args = ['expect', '--count', '1', '--within', '60s', '--', process.execPath, '-e', send];
    const { code, stdout } = await withSources(APART, args);
    expect([code, stdout]).toEqual([0, expect.stringMatching(/^✓ signature +1 valid$/m)]);
  });

  it('all verify for listen', async () => {
    const cwd = temporaryFolder({ '.hooksrc.json': JSON.stringify({ sources: APART }) });
    const listen = await listening([], { cwd });
    for (const secret of ['one', 'two', 'other']) {
      await listen.post(BODY, { 'X-Signature': sign(BODY, secret) });
      const verdict = secret === 'other' ? 'invalid' : 'valid';
      expect(await listen.nextLine()).toMatchObject({ verdict });
    }
    await listen.stop();
  });

  it.each([['sign'], ['test', 'http://127.0.0.1:9/']])('are not guessed at by %s', async (...args) => {
    expect(await withSources(APART, args)).toMatchObject({ code: 2, stdout: '', stderr: REFUSAL });
  });

  it('sign if they are the same, even if older secrets differ', async () => {
    const sources = {
      web: source({ Webhooks: signedWith('one', 'old'), Off: { enabled: false, sharedSecret: '${UNSET}' } }),
      app: source({ Only: signedWith('one'), Archive: { webhooks: ['http://127.0.0.1:9/'] } }),
    };
    expect(await withSources(sources, ['sign'])).toMatchObject({ code: 0, stdout: `${sign(BODY, 'one')}\n` });
    const unreachable = await withSources(sources, ['test', 'http://127.0.0.1:9/']);
    expect([unreachable.code, unreachable.stderr]).toEqual([2, expect.not.stringContaining('No secret')]);
  });

  it('can refer to variables that are not set', async () => {
    const sources = {
      other: source({ Webhooks: signedWith('${UNSET_SECRET}') }),
      default: source({ Webhooks: signedWith('one'), Archive: signedWith('${UNSET_SECRET}') }),
    };
    expect(await withSources(sources, ['sign'])).toMatchObject({ code: 0, stdout: `${sign(BODY, 'one')}\n` });
    const args = ['verify', '--signature', sign(BODY, 'one'), '-o', 'json'];
    const { code, stdout } = await withSources(sources, args);
    expect([code, JSON.parse(stdout)]).toEqual([0, { valid: true, secret: 1, over: 'bytes' }]);
    const { other } = sources;
    const unset = errorOf(await withSources({ one: other, two: other }, args));
    expect(unset).toContain('needs the environment variable UNSET_SECRET');
  });

  it('reach the command of expect in the order in which they sign', async () => {
    const sources = {
      web: source({ Webhooks: signedWith('one') }),
      default: source({ Webhooks: signedWith('two') }),
    };
    const args = ['expect', '--count', '0', '--', 'sh', '-c', 'test "$HOOKS_SECRET" = two'];
    expect(await withSources(sources, args)).toMatchObject({ code: 0 });
  });

  it('are not read if a secret is given', async () => {
    const { stdout } = await withSources(APART, ['sign'], { HOOKS_SECRET: 'three' });
    expect(stdout).toBe(`${sign(BODY, 'three')}\n`);
  });

  it('can be missing, and then the hint names a working fix', async () => {
    const result = await withSources({ web: source({}), app: source({}) }, ['sign']);
    expect(errorOf(result)).toBe(
      'error: There is no secret\n' +
        'hint:  give --secret, --secret-file FILE or HOOKS_SECRET, or set `sharedSecret` in the config (with `sources`: in a destination)\n',
    );
  });
});

describe('the secrets of the destinations of one source', () => {
  const several = source({ One: signedWith('one'), Two: signedWith('two') });

  it('all verify, and are not guessed at', async () => {
    const verified = await withSources({ web: several }, ['verify', '--signature', sign(BODY, 'two')]);
    expect([verified.code, verified.stdout]).toEqual([0, expect.stringContaining('matches secret 2')]);
    const signed = await withSources({ web: several }, ['sign']);
    expect([signed.code, signed.stderr]).toEqual([2, REFUSAL.replace('sources', 'destinations')]);
  });

  it('sign as Webhooks', async () => {
    const sources = { web: source({ One: signedWith('one'), Webhooks: signedWith('two') }) };
    expect((await withSources(sources, ['sign'])).stdout).toBe(`${sign(BODY, 'two')}\n`);
  });
});
