import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { expectRejected } from '../cli/expect-rejected.ts';
import { argv } from './argv.ts';
import { PACKAGE_VERSION } from '../../src/app/version.ts';
import { hooks } from '../cli/run-in-process.ts';
import { jsonLines, receiving, SECRET, track } from './receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { sign } from '../sign.ts';

const CANARY = 'CANARY-e41b7';
const BODY =
  '{"version":1,"type":"track","userId":"u1","event":"Signup","properties":{},"timestamp":"2026-11-20T21:10:05.123Z","messageId":"m1"}';
const SECRETS = ['--secret', SECRET, '--header', `X-Api-Key: ${CANARY} two`, '--header', 'X-Env: staging'];

describe.concurrent('--dry-run', () => {
  it('prints the request with variables instead of secrets, and sends nothing', async () => {
    const to = await receiving();
    const url = to.url.replace('//', `//user:${CANARY}@`);
    const { code, stdout, stderr } = await hooks(
      argv`send --json ${track(1)} --url ${url} ${SECRETS} --dry-run`,
    );
    expect(code).toBe(0);
    expect(stdout).toBe(
      `POST ${to.url}/
User-Agent: hooks-cli/${PACKAGE_VERSION}
Content-Type: application/json
X-Api-Key: $HOOKS_X_API_KEY
X-Env: staging
Authorization: $HOOKS_AUTHORIZATION
Idempotency-Key: m1
X-Signature: ${sign(BODY, SECRET)}

${BODY}

`,
    );
    expect(stderr).toBe(
      'note: HOOKS_X_API_KEY, HOOKS_AUTHORIZATION stand for secrets; --show-secrets prints them\n',
    );
    expect(to.requests).toEqual([]);
  });

  it('prints the secrets with --show-secrets', async () => {
    const args = ['send', '--json', track(1), '--url', `http://user:${CANARY}@127.0.0.1:9`, ...SECRETS];
    const { stdout, stderr } = await hooks([...args, '--dry-run', '--show-secrets']);
    expect(stdout).toContain(`X-Api-Key: ${CANARY} two\n`);
    expect(stdout).toContain(`Authorization: Basic ${Buffer.from(`user:${CANARY}`).toString('base64')}\n`);
    expect(stderr).toBe('');
  });

  it('leaves the files of --failed and --report as they are', async () => {
    const before = {
      'two.ndjson': `${track(1)}\nnot JSON\n`,
      'failed.ndjson': 'earlier\n',
      'r.json': '{}\n',
    };
    const cwd = temporaryFolder(before);
    await hooks(
      argv`replay two.ndjson --url http://127.0.0.1:9 --dry-run --failed failed.ndjson --report r.json`,
      { cwd },
    );
    const after = Object.keys(before).map((name) => [name, readFileSync(join(cwd, name), 'utf8')]);
    expect(Object.fromEntries(after)).toEqual(before);
  });

  it('prints one JSON object for each first request with -o json', async () => {
    const cwd = temporaryFolder({ 'two.ndjson': `${track(1)}\n${track(2)}\n` });
    const { code, stdout } = await hooks(
      argv`replay two.ndjson --url http://127.0.0.1:9 --url http://127.0.0.1:10 --dry-run -o json`,
      { cwd },
    );
    expect(code).toBe(0);
    expect(jsonLines(stdout)).toMatchObject([
      {
        method: 'POST',
        url: 'http://127.0.0.1:9/',
        headers: [
          ['User-Agent', expect.any(String)],
          ['Content-Type', 'application/json'],
          ['Idempotency-Key', 'm1'],
        ],
      },
      { body: expect.stringContaining('"messageId":"m2"') as string },
    ]);
  });

  it('prints the request to a tracking API without its write key', async () => {
    const { stdout } = await hooks(
      argv`send --json ${track(1)} --endpoint http://127.0.0.1:9 --write-key ${CANARY} --dry-run`,
    );
    expect(stdout).toMatch(/^POST http:\/\/127\.0\.0\.1:9\/v1\/batch\n/);
    expect(stdout).toContain('Authorization: $HOOKS_AUTHORIZATION\n');
    expect(stdout).toContain('{"batch":[{"type":"track","userId":"u1","event":"Signup"');
  });
});

it('--show-secrets is rejected without --dry-run and --curl', async () => {
  await expectRejected(
    argv`send --json ${track(1)} --loopback --show-secrets`,
    'error: `--show-secrets` is for `--dry-run` and `--curl`\nhint:  add one of them, or leave it out\n',
  );
});
