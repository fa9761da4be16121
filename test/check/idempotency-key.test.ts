import { expect, it, onTestFinished } from 'vitest';
import { hmac, rightBut, SECRET, startHttp, type Respond } from '../answers/counterparts.ts';
import { hooks } from '../cli/run-in-process.ts';

type Seen = Parameters<Respond>[0];

/** Runs `hooks test` against a receiver, and returns its output and the requests. */
async function tested(respond: Respond, ...flags: readonly string[]) {
  const requests: Seen[] = [];
  const { port, close } = await startHttp((request) => {
    requests.push(request);
    return respond(request);
  });
  onTestFinished(close);
  const args = ['test', `http://127.0.0.1:${port}/`, '--secret', SECRET, '-o', 'json'];
  return { ...(await hooks([...args, ...flags])), requests };
}

const keyOf = ({ headers }: Seen): string => String(headers['idempotency-key'] ?? '');
const isSigned = ({ headers, body }: Seen): boolean => headers['x-signature'] === hmac(body);

/** A receiver that remembers keys, and responds in this way to one that it knows. It hashes with this function. */
function remembering(known: ReturnType<Respond>, verifies: (request: Seen) => boolean = isSigned): Respond {
  const keys = new Set<string>();
  return (request) => {
    if (keys.has(keyOf(request))) return known;
    keys.add(keyOf(request));
    return verifies(request) ? rightBut()({ ...request, headers: signedHeaders(request) }) : { status: 401 };
  };
}

const signedHeaders = ({ headers, body }: Seen) => ({ ...headers, 'x-signature': hmac(body) });

it('sends the id of the message as the key, the same only for a duplicate', async () => {
  const { code, requests } = await tested(rightBut());
  expect(code).toBe(0);
  const messages = requests.filter(({ body }) => /^\s*\{.*\}\s*$/s.test(body.toString()));
  const ids = messages.map(({ body }) => (JSON.parse(body.toString()) as { messageId: string }).messageId);
  expect(messages.map(keyOf)).toEqual(ids);
  expect(requests.length - new Set(requests.map(keyOf)).size).toBe(1);
});

it('passes a receiver that wants a key', async () => {
  const { code } = await tested(rightBut((request) => (keyOf(request) === '' ? { status: 400 } : undefined)));
  expect(code).toBe(0);
});

it('sends the key of -H in place of its own', async () => {
  const { requests } = await tested(rightBut(), '-H', 'Idempotency-Key: mine', '--only', 'track,unsigned');
  expect(requests.map(keyOf)).toEqual(requests.map(() => 'mine'));
});

it('passes a receiver that responds with 2xx to a known key', async () => {
  const { code } = await tested(remembering({}));
  expect(code).toBe(0);
});

it('names a receiver that responds with 409 to a known key', async () => {
  const { code, stdout } = await tested(remembering({ status: 409 }));
  expect(code).toBe(1);
  const failed = stdout.split('\n').filter((line) => line.includes('"outcome":"failed"'));
  expect(failed).toHaveLength(1);
  expect(failed[0]).toContain('"check":"duplicate"');
  expect(failed[0]).toContain('respond with 2xx to a messageId or Idempotency-Key that you know already');
});

const addsNewline = ({ headers, body }: Seen): boolean =>
  headers['x-signature'] === hmac(`${body.toString()}\n`);

it.each([
  ['2xx', {}],
  ['409', { status: 409 }],
])(
  'finds the mistake of a receiver that remembers keys before it verifies, with %s to a known one',
  async (_, known) => {
    const { stdout } = await tested(remembering(known, addsNewline), '--only', 'track');
    expect(stdout).toContain('with a newline at the end of the body');
    expect(stdout).not.toContain('"inconsistent"');
  },
);
