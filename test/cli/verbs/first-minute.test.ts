import { expect, it, onTestFinished } from 'vitest';
import { startHttp } from '../../answers/counterparts.ts';
import { nextUrl } from '../../end-to-end/running-command.ts';
import { freePort } from '../../free-port.ts';
import { sign } from '../../sign.ts';
import { hooks, startHooks } from '../run-in-process.ts';

const BODY = '{"type": "track", "userId": "u1", "event": "Signup"}';
const SECRET = 's3cret';

it('says once how to start a receiver at an address where nothing listens', async () => {
  const port = await freePort();
  const args = [
    'send',
    'track',
    '--event',
    'Signup',
    '--user-id',
    'u1',
    '--url',
    `http://127.0.0.1:${port}/`,
    '--retry-for',
    '2s',
  ];
  const { code, stderr } = await hooks(args);
  expect(code).toBe(1);
  const hint = `hint:  start the receiver there, or run hooks listen --port ${port} in another terminal; Ctrl-C stops the retries`;
  const [first, second] = stderr.split('\n');
  expect(first).toMatch(/^retry: cannot connect to/);
  expect(second).toBe(hint);
  expect(stderr.split(hint)).toHaveLength(2);
});

it('shows a title as a whole in a pipe, and no guess that repeats the status', async () => {
  const { port, close } = await startHttp(() => ({ status: 500 }));
  onTestFinished(close);
  const event = 'a long name of an event that a terminal would cut';
  const url = `http://127.0.0.1:${port}/`;
  const { stdout } = await hooks([
    'send',
    'track',
    '--event',
    event,
    '--url',
    url,
    '--retry-for',
    '0s',
    '-v',
  ]);
  expect(stdout).toContain(` ${event} `);
  expect(stdout).not.toContain('perhaps:');
});

it.each<[string, Record<string, string>, string]>([
  [
    'a signature of the JSON-stringified body',
    { 'X-Signature': sign(JSON.stringify(JSON.parse(BODY)), SECRET) },
    'note: the bytes differ: they have the spaces that json.dumps of Python puts after commas and colons (python-json)',
  ],
  [
    'the prefix sha1=',
    { 'X-Signature': `sha1=${sign(BODY, SECRET)}` },
    'the signature has the prefix sha1=, which Segment does not send: a receiver that compares the whole header rejects it',
  ],
  ['no signature', {}, 'no-signature: No X-Signature came. Give the sender the secret'],
])('explains in hooks listen %s', async (_, headers, says) => {
  const running = startHooks(['listen', '--port', '0', '--secret', SECRET]);
  const url = await nextUrl(running);
  await fetch(url, { method: 'POST', body: BODY, headers });
  const { stdout } = await running.stop();
  expect(stdout).toContain(`    ${says}`);
});
