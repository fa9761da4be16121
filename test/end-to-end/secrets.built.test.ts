import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { CANARY, CANARY_IN_URL, SHARED_CANARY, expectNoCanary, startEcho, writtenIn } from './canaries.ts';
import { hooks as hooksHere } from '../cli/run-in-process.ts';
import { argv } from './argv.ts';
import { hooks } from './hooks.ts';
import { track } from './receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const echo = await startEcho();

const WITH_SECRETS = argv`--secret ${SHARED_CANARY} --header ${`Cookie: a=${CANARY}`}
  --header ${`X-Api-Key: ${CANARY}`} --retry-for 1200ms`;
const IN_URL = argv`--url http://user:${CANARY_IN_URL}@127.0.0.1:PORT/hook?token=${CANARY_IN_URL} ${WITH_SECRETS}`;
const IN_HEADER = argv`--url http://127.0.0.1:PORT/ ${WITH_SECRETS} --header ${`Authorization: Bearer ${CANARY}`}`;
const TO_API = ['--endpoint', 'http://127.0.0.1:PORT', '--write-key', CANARY, '--retry-for', '1200ms'];
const SEND = ['send', '--json', track(1)];
const REPLAY = ['replay', 'day.ndjson', '--report', 'r.xml', '--failed', 'failed.ndjson'];

const MANY = ['replay', 'many.ndjson', '--retry-for', '0', '-o', 'json'];
const TO_LONG = ['--url', `http://user:${CANARY_IN_URL}@127.0.0.1:PORT/long`, '--secret', SHARED_CANARY];

const RUNS: Readonly<Record<string, readonly string[]>> = {
  'send that fails': [...SEND, ...IN_URL],
  'send that fails, as JSON': [...SEND, ...IN_HEADER, '-o', 'json'],
  'send to a tracking API that fails': [...SEND, ...TO_API],
  'a dry run': [...SEND, ...IN_URL, '--dry-run'],
  'a dry run, as JSON': [...SEND, ...IN_URL, '--dry-run', '-o', 'json'],
  'a curl command': [...SEND, ...IN_HEADER, '--curl'],
  'a curl command to a tracking API': [...SEND, ...TO_API, '--curl'],
  'replay that fails': [...REPLAY, ...IN_URL],
  'replay that fails, as JSON': argv`replay day.ndjson --report r.json --strategy broadcast -o json ${IN_HEADER}`,
  'replay to a tracking API that fails': [...REPLAY, ...TO_API, '-o', 'json'],
  'replay whose receiver repeats secrets in a long response': [...MANY, '--report', 'r.json', ...TO_LONG],
  'replay that can be resumed': [...MANY, '--limit', '3', '--resume', ...IN_URL],
  'send through a proxy that rejects': [...SEND, '--url', 'http://a.example/', ...WITH_SECRETS],
  'send through a proxy that rejects, over TLS': [...SEND, '--url', 'https://a.example/', ...WITH_SECRETS],
  'a store of another kind': [...SEND, '--queue', '--store', `redis://user:${CANARY_IN_URL}@127.0.0.1/0`],
  'a store of no kind': [...SEND, '--queue', '--store', `user:${CANARY_IN_URL}@127.0.0.1`],
  'serve with one write key for two sources': ['-c', 'twins.yaml', 'serve', '--port', '0'],
  'serve at an address of another machine': argv`-c good.yaml serve --port 0 --host 192.0.2.1`,
  'a URL with a slash in its password': [...SEND, '--url', `http://user:${CANARY}/x@127.0.0.1`],
  'a URL of another scheme': [...SEND, '--url', `ftp://user:${CANARY_IN_URL}@127.0.0.1`],
  'a URL without a scheme': [...SEND, '--url', `user:${CANARY_IN_URL}@127.0.0.1`],
  'a URL with a fragment': [...SEND, '--url', `http://user:${CANARY_IN_URL}@127.0.0.1#x`],
  'two authorizations': [...SEND, ...IN_URL, '--header', `Authorization: ${CANARY}`],
  'a header twice': [...SEND, ...IN_HEADER, '--header', `Authorization: ${CANARY}`],
  'a control character in a header': [...SEND, ...IN_URL, '--header', `X-Token: ${CANARY}\u0001`],
  'a header whose name holds its value': [...SEND, ...IN_URL, '--header', `Authorization ${CANARY}: x`],
  'a wrong timeout': [...SEND, ...IN_URL, '--timeout', 'x'],
  'two destinations at once': [...SEND, ...IN_URL, ...TO_API],
  'an endpoint with a password': [...SEND, '--endpoint', `http://user:${CANARY_IN_URL}@127.0.0.1`],
  'a write key without an endpoint': [...SEND, '--write-key', CANARY],
  'a mistyped flag': [...SEND, `--secrte=${CANARY}`],
  'a mistyped flag with a line break': [...SEND, `--secrte=${CANARY}\n${CANARY}'`],
  'a mistyped short flag': [...SEND, `-s${CANARY}`],
  'a missing message': ['send', '--json', `@none`, ...IN_URL],
  'a missing input': ['replay', 'none', ...IN_URL],
  'a wrong limit': [...REPLAY, ...IN_URL, '--limit', 'x'],
  'verify of a wrong signature': ['verify', '--secret', CANARY, 'body.json', '--signature', '00'],
  'verify of a capture': ['verify', '--secret', CANARY, 'capture.json'],
  'listen with an empty secret': ['listen', '--secret', CANARY, '--secret', '', '--port', '0'],
  config: ['-c', 'good.yaml', 'config'],
  'config, as JSON': ['-c', 'good.yaml', 'config', '-o', 'json'],
  'send with a config': ['-c', 'good.yaml', ...SEND, '--retry-for', '0'],
  'a config that is not YAML': ['-c', 'broken.yaml', ...SEND],
  'a config with wrong values': ['-c', 'wrong.yaml', ...SEND],
};

/** Runs that end before a client is opened. They do not use `DEBUG`, so they can run in this process. */
const REFUSED =
  /^(?:a (?:URL|control|header|wrong|mistyped|missing|config)|two |an (?:endpoint|input)|verify|listen|config|serve with the)/;

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
  'good.yaml': `sharedSecret: ${SHARED_CANARY}\nwriteKey: ${CANARY}\nwebhooks: [{ url: "http://user:${CANARY_IN_URL}@127.0.0.1:9", headers: { X-Token: "${CANARY}" } }]\ndelivery: { timeout: 1s }\n`,
  'many.ndjson': Array.from({ length: 24 }, (_, id) => `${track(id, { userId: `u${id}` })}\n`).join(''),
  'twins.yaml': `sources: { a: { writeKey: "${CANARY}" }, b: { writeKey: "${CANARY}" } }\n`,
  'broken.yaml': `sharedSecret: "${CANARY}\nwebhooks: [\n`,
  'wrong.yaml': `sharedSecret: [{ a: ${CANARY} }]\nwebhooks: ["http://user:${CANARY_IN_URL}@:x"]\n`,
};

const proxies = (url: string): Record<string, string> => ({ HTTP_PROXY: url, HTTPS_PROXY: url });

describe.concurrent('no secret is in any output or file of', () => {
  it.each(Object.entries(RUNS))('%s', async (what, args) => {
    const cwd = temporaryFolder(FILES);
    const words = args.map((word) => word.replaceAll('PORT', String(echo)));
    const run = REFUSED.test(what) ? hooksHere : hooks;
    const { code, stdout, stderr } = await run([...words, '-v'], {
      cwd,
      env: {
        DEBUG: '*',
        HOOKS_DATA_DIR: join(cwd, 'data'),
        HOOKS_SECRET: SHARED_CANARY,
        HOOKS_WRITE_KEY: CANARY,
        ...(what.includes('proxy') && proxies(`http://user:${CANARY_IN_URL}@127.0.0.1:${echo}`)),
      },
    });
    // The command ran, and did not end with an internal error.
    expect(code).toBeOneOf([0, 1, 2]);
    expect(stderr).not.toContain('report this bug in hooks');
    expectNoCanary('stdout', stdout);
    expectNoCanary('stderr', stderr);
    expectNoCanary('what was written', await writtenIn(cwd, Object.keys(FILES)));
  });
});

it('the canary would be found in an output that has it', async () => {
  const args = [...SEND, '--url', 'http://127.0.0.1:9', '--header', `X-Token: ${CANARY}`];
  const { stdout } = await hooksHere([...args, '--dry-run', '--show-secrets']);
  expect(stdout).toContain(CANARY);
});
