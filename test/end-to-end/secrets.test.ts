import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { readdir, readFile, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { hooks } from './hooks.ts';
import { folder, track } from './receiving.ts';

const CANARY = 'CANARY-7f3a';
const TELLTALES = [
  CANARY,
  Buffer.from(`user:${CANARY}`).toString('base64'),
  Buffer.from(`${CANARY}:`).toString('base64'),
];

/** Refuses everything, repeating all that it was sent: the worst that a receiver can do to a secret. */
const echo = createServer((request, response) => {
  const headers = request.rawHeaders.join(' ');
  response.writeHead(503, { 'retry-after': '0' }).end(`you sent ${headers}, expected ${CANARY}`);
});
let port = 0;
beforeAll(async () => {
  await new Promise<void>((resolve) => echo.listen(0, '127.0.0.1', resolve));
  port = (echo.address() as AddressInfo).port;
});
afterAll(() => {
  echo.closeAllConnections();
  echo.close();
});

const WITH_SECRETS = [
  '--secret',
  CANARY,
  '--header',
  `Cookie: a=${CANARY}`,
  '--header',
  `X-Api-Key: ${CANARY}`,
  '--retry-for',
  '1200ms',
];
const IN_URL = ['--url', `http://user:${CANARY}@127.0.0.1:PORT/hook`, ...WITH_SECRETS];
const IN_HEADER = [
  '--url',
  'http://127.0.0.1:PORT/',
  ...WITH_SECRETS,
  '--header',
  `Authorization: Bearer ${CANARY}`,
];
const TO_API = ['--endpoint', 'http://127.0.0.1:PORT', '--write-key', CANARY, '--retry-for', '1200ms'];
const SEND = ['send', '--json', track(1)];
const REPLAY = ['replay', 'day.ndjson', '--report', 'r.xml', '--failed', 'failed.ndjson'];

const RUNS: Readonly<Record<string, readonly string[]>> = {
  'send that fails': [...SEND, ...IN_URL],
  'send that fails, as JSON': [...SEND, ...IN_HEADER, '-o', 'json'],
  'send to a tracking API that fails': [...SEND, ...TO_API],
  'a dry run': [...SEND, ...IN_URL, '--dry-run'],
  'a dry run, as JSON': [...SEND, ...IN_URL, '--dry-run', '-o', 'json'],
  'a curl command': [...SEND, ...IN_HEADER, '--curl'],
  'a curl command to a tracking API': [...SEND, ...TO_API, '--curl'],
  'replay that fails': [...REPLAY, ...IN_URL],
  'replay that fails, as JSON': [
    'replay',
    'day.ndjson',
    '--report',
    'r.json',
    '--strategy',
    'broadcast',
    '-o',
    'json',
    ...IN_HEADER,
  ],
  'replay to a tracking API that fails': [...REPLAY, ...TO_API, '-o', 'json'],
  'a URL with a slash in its password': [...SEND, '--url', `http://user:${CANARY}/x@127.0.0.1`],
  'a URL of another scheme': [...SEND, '--url', `ftp://user:${CANARY}@127.0.0.1`],
  'a URL without a scheme': [...SEND, '--url', `user:${CANARY}@127.0.0.1`],
  'a URL with a fragment': [...SEND, '--url', `http://user:${CANARY}@127.0.0.1#x`],
  'two authorizations': [...SEND, ...IN_URL, '--header', `Authorization: ${CANARY}`],
  'a header twice': [...SEND, ...IN_HEADER, '--header', `Authorization: ${CANARY}`],
  'a control character in a header': [...SEND, ...IN_URL, '--header', `X-Token: ${CANARY}\u0001`],
  'a header whose name holds its value': [...SEND, ...IN_URL, '--header', `Authorization ${CANARY}: x`],
  'a wrong timeout': [...SEND, ...IN_URL, '--timeout', 'x'],
  'two places at once': [...SEND, ...IN_URL, ...TO_API],
  'an endpoint with a password': [...SEND, '--endpoint', `http://user:${CANARY}@127.0.0.1`],
  'a mistyped flag': [...SEND, `--secrte=${CANARY}`],
  'a mistyped flag with a line break': [...SEND, `--secrte=${CANARY}\n${CANARY}'`],
  'a mistyped short flag': [...SEND, `-s${CANARY}`],
  'a message that is not there': ['send', '--json', `@none`, ...IN_URL],
  'an input that is not there': ['replay', 'none', ...IN_URL],
  'a wrong limit': [...REPLAY, ...IN_URL, '--limit', 'x'],
  'verify of a wrong signature': ['verify', '--secret', CANARY, 'body.json', '--signature', '00'],
  'verify of a capture': ['verify', '--secret', CANARY, 'capture.json'],
  'listen with an empty secret': ['listen', '--secret', CANARY, '--secret', '', '--port', '0'],
  config: ['-c', 'good.yaml', 'config'],
  'config, as JSON': ['-c', 'good.yaml', 'config', '-o', 'json'],
  'send with a config': ['-c', 'good.yaml', ...SEND, '--retry-for', '0'],
  'a config that is no YAML': ['-c', 'broken.yaml', ...SEND],
  'a config with wrong values': ['-c', 'wrong.yaml', ...SEND],
};

const FILES = {
  'day.ndjson': `${track(1)}\n{"type":"track"\n${track(2, { userId: 'u2' })}\n`,
  'body.json': track(1),
  'capture.json': JSON.stringify({
    capture: 1,
    method: 'POST',
    url: '/',
    headers: [['X-Signature', '00']],
    body: track(1),
  }),
  'good.yaml': `sharedSecret: ${CANARY}\nwriteKey: ${CANARY}\nwebhooks: [{ url: "http://user:${CANARY}@127.0.0.1:9", headers: { X-Token: ${CANARY} } }]\ndelivery: { timeout: 1s }\n`,
  'broken.yaml': `sharedSecret: "${CANARY}\nwebhooks: [\n`,
  'wrong.yaml': `sharedSecret: [{ a: ${CANARY} }]\nwebhooks: ["http://user:${CANARY}@:x"]\n`,
};

/** All that a run has written under a folder, names included. */
async function writtenIn(path: string): Promise<string> {
  const names = await readdir(path, { recursive: true });
  const texts = names.map(async (name) => {
    if (name in FILES || !(await stat(join(path, name))).isFile()) return name;
    return `${name}\n${await readFile(join(path, name), 'latin1')}`;
  });
  return (await Promise.all(texts)).join('\n');
}

describe.concurrent('no secret is in any output or file of', () => {
  it.each(Object.entries(RUNS))('%s', async (_what, args) => {
    const cwd = await folder(FILES);
    const words = args.map((word) => word.replaceAll('PORT', String(port)));
    const { code, stdout, stderr } = await hooks([...words, '-v'], {
      cwd,
      env: { DEBUG: '*', HOOKS_DATA_DIR: join(cwd, 'data'), HOOKS_SECRET: CANARY, HOOKS_WRITE_KEY: CANARY },
    });
    // It ran, and did not end by a fault of ours.
    expect(code).toBeOneOf([0, 1, 2]);
    expect(stderr).not.toContain('this is a fault of hooks');
    const written = await writtenIn(cwd);
    for (const telltale of TELLTALES) {
      expect(stdout).not.toContain(telltale);
      expect(stderr).not.toContain(telltale);
      expect(written).not.toContain(telltale);
    }
  });
});

it('finds a secret that is there', async () => {
  const { stdout } = await hooks([
    ...SEND,
    '--url',
    'http://127.0.0.1:9',
    '--dry-run',
    '--show-secrets',
    '--header',
    `X-Token: ${CANARY}`,
  ]);
  expect(stdout).toContain(CANARY);
});
