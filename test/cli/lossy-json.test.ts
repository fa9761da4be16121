import { expect, it, onTestFinished } from 'vitest';
import { expectRejected } from './expect-rejected.ts';
import { listeningBy } from '../end-to-end/listening-by.ts';
import { startTestReceiver } from '../../src/testing/testing.ts';
import { sign } from '../sign.ts';
import { hooks, startHooks } from './run-in-process.ts';

const SECRET = 's3cret-of-the-test';
const SIGNED = '{"type":"track","event":"A","userId":"victim"}';
/** A body for which the signature above is valid after parsing, although some JSON parsers read the attacker's value. */
const FORGED = '{"userId":"attacker","type":"track","event":"A","userId":"victim"}';
const WRITTEN = JSON.stringify(JSON.parse(FORGED));
const LOSS = 'parsing loses something: Expected each key once, got `userId` twice';

const signature = sign(WRITTEN, SECRET);
const diagnosis = {
  code: 'lossy-json',
  codes: ['lossy-json'],
  confidence: 'proved',
  hint: expect.stringContaining(LOSS) as string,
};

it.each([[[]], [['--exact']]])(
  'hooks verify rejects a body that loses a key in parsing: %j',
  async (flags) => {
    const given = ['--secret', SECRET, '--signature', signature, ...flags];
    const { code, stdout } = await hooks(['verify', ...given, '-o', 'json'], { stdin: FORGED });
    expect(code).toBe(1);
    expect(JSON.parse(stdout)).toEqual({
      valid: false,
      diagnosis,
      expected: sign(FORGED, SECRET),
      got: signature,
    });
    const text = await hooks(['verify', ...given], { stdin: FORGED });
    expect(text.stdout.replaceAll(/\s+/g, ' ')).toContain(LOSS);
  },
);

it('hooks verify rejects such a body in a capture, and one of megabytes', async () => {
  const capture = {
    capture: 1,
    method: 'POST',
    url: '/',
    headers: [['X-Signature', signature]],
    body: FORGED,
  };
  const flags = ['verify', '--secret', SECRET, '-o', 'json'];
  const { code, stdout } = await hooks(flags, { stdin: JSON.stringify(capture) });
  expect([code, JSON.parse(stdout)]).toMatchObject([1, { diagnosis }]);
  const stdin = `${FORGED}${' '.repeat(3_000_000)}`;
  const large = await hooks([...flags, '--signature', signature], { stdin });
  expect([large.code, JSON.parse(large.stdout)]).toMatchObject([1, { diagnosis }]);
});

it('hooks listen responds with 401 if signatures are required, and prints the reason for every request', async () => {
  const listen = await listeningBy(startHooks, ['--secret', SECRET, '--require-signature']);
  for (let sent = 0; sent < 15; sent++) {
    expect((await listen.post(FORGED, { 'X-Signature': signature })).status).toBe(401);
    expect(await listen.nextLine()).toMatchObject({ verdict: 'invalid', diagnosis });
  }
  expect((await listen.post(` ${SIGNED}`, { 'X-Signature': sign(SIGNED, SECRET) })).status).toBe(200);
});

it('a test receiver reports such a body too', async () => {
  const receiver = await startTestReceiver({ secret: SECRET });
  onTestFinished(() => receiver.close());
  await fetch(receiver.url, { method: 'POST', body: FORGED, headers: { 'X-Signature': signature } });
  expect(receiver.requests()).toMatchObject([
    { verdict: 'invalid', reason: expect.stringContaining(LOSS) as string },
  ]);
});

it('hooks sign --stringify rejects a body that would not verify', async () => {
  const flags = ['sign', '--secret', SECRET, '--stringify'];
  await expectRejected(flags, 'Expected each key once, got `userId` twice', { stdin: FORGED });
  expect((await hooks(flags, { stdin: ` ${SIGNED}` })).stdout).toBe(`${sign(SIGNED, SECRET)}\n`);
});
