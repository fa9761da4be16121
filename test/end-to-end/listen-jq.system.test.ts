// Needs jq, bash.
import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import { describe, expect, it, onTestFinished } from 'vitest';
import { hasTool } from '../external-tool.ts';
import { sign } from '../sign.ts';
import { BINARY, inherited } from './hooks.ts';
import { receiving, SECRET, track } from './receiving.ts';

const hasJq = hasTool('jq', '--version');

/** A filter of jq for everything that the inbox shows of a request. */
const FILTER = `if .ready then .url else {
  at: (.at | test("^\\\\d{4}-\\\\d\\\\d-\\\\d\\\\dT[\\\\d:.]+Z$")), method, path, type, event, userId, verdict, secret, status, answered, bytes, ms: (.ms >= 0),
  code: .diagnosis.code, hint: .diagnosis.hint, note, problem,
  cookie: (.headers | map({(.[0] | ascii_downcase): .[1]}) | add | .cookie),
  plan: (try (.body | fromjson | .properties.plan) catch null), body, base64: .bodyBase64, forwarded: .forwarded.status
} | with_entries(select(.value != null)) end`;

/** Runs `hooks listen -v -o json … | jq` in a shell. */
async function listeningThroughJq(args: readonly string[]) {
  const script = '"$0" listen --port 0 -v -o json "${@:2}" | jq --unbuffered -c "$1"';
  const shell = spawn('bash', ['-c', script, BINARY, FILTER, ...args], {
    env: inherited(),
    detached: true,
    timeout: 30_000,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  onTestFinished(() => {
    process.kill(-(shell.pid ?? NaN), 'SIGKILL');
  });
  const lines = createInterface(shell.stdout)[Symbol.asyncIterator]();
  const next = async (): Promise<unknown> => JSON.parse((await lines.next()).value ?? 'null') as unknown;
  const url = String(await next());
  return {
    post: async (body: string | Uint8Array, headers: Record<string, string> = {}): Promise<unknown> => {
      await fetch(`${url}/hook`, { method: 'POST', body: Buffer.from(body), headers });
      return next();
    },
  };
}

describe.skipIf(!hasJq)('hooks listen -v -o json | jq', () => {
  it('prints everything that the inbox shows of a request', async () => {
    const to = await receiving();
    const { post } = await listeningThroughJq(['--secret', SECRET, '--quiet', '--forward', to.url]);
    const body = track(1, { properties: { plan: 'pro' } });
    const all = { at: true, method: 'POST', path: '/hook', status: 200, ms: true, forwarded: 200 };
    const known = { ...all, type: 'track', event: 'Signup', userId: 'u1', plan: 'pro', body };

    expect(await post(body, { 'X-Signature': sign(body, SECRET), Cookie: 'CANARY' })).toEqual({
      ...known,
      verdict: 'valid',
      bytes: body.length,
      secret: 1,
      cookie: '***',
    });
    expect(await post(body, { 'X-Signature': sign(`${body}\n`, SECRET) })).toMatchObject({
      ...known,
      verdict: 'invalid',
      code: 'trailing-newline',
      hint: expect.stringContaining('with a newline at the end') as unknown,
    });
    expect(await post(body)).toMatchObject({ ...known, verdict: 'unsigned' });
  });

  it('prints the exact bytes of a body that is not text, and hostile text unchanged', async () => {
    const { post } = await listeningThroughJq(['--quiet']);
    const invalid = Buffer.from([0x7b, 0xff, 0x00, 0x1b, 0x5d, 0x7d]);
    expect(await post(invalid)).toMatchObject({ bytes: 6, base64: invalid.toString('base64') });
    const hostile = '\u001b]0;owned\u0007\u202e<script>';
    expect(await post(hostile)).toMatchObject({ body: hostile });
  });
});
