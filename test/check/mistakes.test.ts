import { createHash, createHmac } from 'node:crypto';
import { expect, it, onTestFinished } from 'vitest';
import { hmac, isJson, rightBut, SECRET, startHttp, type Respond } from '../answers/counterparts.ts';
import { hooks } from '../cli/run-in-process.ts';

interface Told {
  readonly check?: string;
  readonly diagnosis?: { readonly code: string; readonly says: string; readonly confidence: string };
}

/** The different explanations that `hooks test` gives to a receiver, with the checks that each explains. */
function explanations(receiver: Respond, ...flags: readonly string[]) {
  return explanationsAt('/', receiver, ...flags);
}

async function explanationsAt(path: string, receiver: Respond, ...flags: readonly string[]) {
  const { port, close } = await startHttp(receiver);
  onTestFinished(close);
  const url = `http://127.0.0.1:${port}${path}`;
  const args = ['test', url, '--secret', SECRET, '--timeout', '1s', '-o', 'json'];
  const { stdout } = await hooks([...args, ...flags]);
  const lines = stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as Told);
  const failed = lines.filter(({ check, diagnosis }) => check !== undefined && diagnosis !== undefined);
  const texts = new Map(failed.map(({ diagnosis }) => [diagnosis?.says, diagnosis]));
  return [...texts.values()].map((diagnosis) => ({
    ...diagnosis,
    checks: failed.filter((each) => each.diagnosis?.says === diagnosis?.says).map(({ check }) => check),
  }));
}

const signatureOf = ({ headers }: Parameters<Respond>[0]): string => String(headers['x-signature'] ?? '');
const toValid = (isMeant: (body: string) => boolean, response: ReturnType<Respond>): Respond => {
  return (request) => {
    const isMeantAndValid = signatureOf(request) === hmac(request.body) && isMeant(request.body.toString());
    return isMeantAndValid ? response : rightBut()(request);
  };
};
const identifies = (body: string): boolean => body.includes('"type":"identify"');

it.each<[string, Respond, { code: string; confidence: string; says?: string; checks?: string[] }]>([
  [
    'a handler without a response behind a working verification',
    toValid(() => true, { status: 404 }),
    { code: 'handler-not-found', confidence: 'proved', says: 'a forgery gets 401, this message 404' },
  ],
  [
    'a receiver that accepts an empty body only',
    toValid((body) => body === '', {}),
    { code: 'accepts-malformed', confidence: 'proved', says: 'some parsers turn into {}' },
  ],
  [
    'a receiver that fails on one type',
    toValid(identifies, { status: 500 }),
    {
      code: 'fails-on-some',
      confidence: 'likely',
      says: 'of type identify',
      checks: ['identify', 'unicode'],
    },
  ],
  [
    'a receiver that reads bodies as ASCII',
    ({ headers, body }) => {
      if (headers['x-signature'] !== hmac(body.toString('ascii'))) return { status: 401 };
      return isJson(body) ? {} : { status: 400 };
    },
    { code: 'refuses-some', confidence: 'likely', says: 'non-ASCII text', checks: ['unicode', 'in-parts'] },
  ],
  [
    'a comparison that throws when lengths differ',
    rightBut((request) => (signatureOf(request).length === 40 ? undefined : { status: 500 })),
    { code: 'fails-on-bad-signature', confidence: 'proved', says: 'an uncaught error of the comparison' },
  ],
  [
    'a comparison of prefixes, for which a missing header is an empty prefix',
    rightBut((request) =>
      isJson(request.body) && hmac(request.body).startsWith(signatureOf(request)) ? {} : undefined,
    ),
    {
      code: 'accepts-part-of-signature',
      confidence: 'proved',
      checks: ['unsigned', 'short-signature'],
    },
  ],
])('gives one explanation to %s', async (_, receiver, { says = '', ...expected }) => {
  const told = await explanations(receiver);
  expect(told).toMatchObject([{ ...expected, says: expect.stringContaining(says) as string }]);
});

/** A receiver that fails on correct messages that lack fields. */
const failsWithout = (isLacking: (body: string) => boolean): Respond =>
  toValid((body) => isJson(Buffer.from(body)) && isLacking(body), { status: 500 });

it.each<[string, (body: string) => boolean, string]>([
  [
    'each of two missing fields',
    (body) => !body.includes('"event":') || !body.includes('"revenue":'),
    'it fails only on messages that have no `event` or no `properties.revenue`: each of these changes alone makes an accepted message fail',
  ],
  [
    'two fields that are missing together',
    (body) => !body.includes('"event":') && !body.includes('"revenue":'),
    'it fails only on messages that have no `event` and no `properties.revenue`: an accepted message fails with all of this, not with only a part of it',
  ],
])('finds by an accepted message that a failure depends on %s', async (_, isLacking, says) => {
  const told = await explanations(failsWithout(isLacking), '--only', 'page,track');
  expect(told).toMatchObject([{ code: 'fails-on-some', confidence: 'proved', says, checks: ['page'] }]);
});

it('does not say that a field decides if the accepted message fails, too, when it comes again', async () => {
  const told = await explanations(
    failsWithout((body) => body.includes('"type":"page"') || body.includes('-compared-')),
    '--only',
    'page,track',
  );
  expect(told).toMatchObject([{ code: 'http-5xx', checks: ['page'] }]);
});

it.each([2, 3])('names no field if one of %i instances fails in turn', async (instances) => {
  let requests = 0;
  const told = await explanations((request) =>
    ++requests % instances === 0 ? { status: 500 } : rightBut()(request),
  );
  expect(told.filter(({ code }) => code === 'fails-on-some')).toEqual([]);
});

it('sends the forgery that tells two mistakes apart, if it was not chosen', async () => {
  const missing = await explanations(
    rightBut((request) => (signatureOf(request) === '' ? {} : undefined)),
    '--only',
    'unsigned',
  );
  expect(missing).toMatchObject([{ code: 'accepts-unsigned' }]);
  const everything = await explanations(() => ({}), '--only', 'unsigned');
  expect(everything).toMatchObject([{ code: 'takes-everything' }]);
});

it('says that instances differ if a rejected request is accepted the next time', async () => {
  let requests = 0;
  const told = await explanations((request) =>
    rightBut()(requests++ % 2 === 0 ? request : { ...request, headers: {} }),
  );
  expect(told).toContainEqual(expect.objectContaining({ code: 'inconsistent', confidence: 'likely' }));
});

it('gives one explanation to rejections in the same words', async () => {
  const words = { status: 400, body: '{"error":"cannot unmarshal number into field of type string"}' };
  const told = await explanations(toValid((body) => /:\d/.test(body), words));
  expect(told).toMatchObject([{ says: expect.stringContaining('cannot unmarshal number') as string }]);
});

it('does not blame a layer in front that let other messages pass', async () => {
  const response = { status: 400, body: 'Bad Request - Invalid Hostname' };
  const told = await explanations(toValid((body) => body.length > 16_000, response));
  expect(told).toMatchObject([{ checks: ['large'], says: expect.stringContaining('larger than') as string }]);
});

it('names the message on which the receiver crashed', async () => {
  const crash: { close?: () => Promise<void> } = {};
  const server = await startHttp(
    toValid((body) => {
      if (body.includes('hooks-test-group')) void crash.close?.();
      return body.includes('hooks-test-group');
    }, 'reset'),
  );
  crash.close = server.close;
  const url = `http://127.0.0.1:${server.port}/`;
  const { stdout } = await hooks(['test', url, '--secret', SECRET, '--only', 'track,group,delete']);
  expect(stdout).toMatch(/✗ group[^\n]*\n {4}wrong: probably it crashed on this request/);
});

const routed = (path: string, receiver: Respond): Respond => {
  return (request) => (request.path === path ? receiver(request) : { status: 404, body: 'no route' });
};

it.each<[string, Respond, { code: string; confidence: string; says: string }]>([
  [
    'a handler that never ends its response to a correct message',
    toValid(() => true, 'hang'),
    { code: 'timeout', confidence: 'proved', says: 'a forgery at once with 401, but twice did not respond' },
  ],
  [
    'a route that never responds',
    routed('/hook', () => 'hang'),
    { code: 'timeout', confidence: 'likely', says: 'responds at another path at once (404)' },
  ],
  [
    'a program that responds to OPTIONS alone',
    ({ method }) => (method === 'OPTIONS' ? { status: 204 } : 'hang'),
    {
      code: 'handler-silent',
      confidence: 'proved',
      says: 'the server responds to OPTIONS /hook, but not to',
    },
  ],
  [
    'a program that never responds',
    () => 'hang',
    { code: 'timeout', confidence: 'likely', says: 'responds to nothing in time' },
  ],
  [
    'a handler that fails on every correct message',
    toValid(() => true, { status: 500 }),
    { code: 'http-5xx', confidence: 'proved', says: 'a forgery gets 401, this message 500' },
  ],
  [
    'a receiver that fails on every request',
    () => ({ status: 500 }),
    { code: 'http-5xx', confidence: 'likely', says: 'forged and unsigned ones too' },
  ],
  [
    'a handler that hangs after a verification that throws',
    (request) => (signatureOf(request) === hmac(request.body) ? 'hang' : { status: 500 }),
    { code: 'timeout', confidence: 'proved', says: 'responds to a forgery at once with 500' },
  ],
  [
    'a receiver that accepts unsigned messages and fails on signed ones',
    (request) => ({ status: signatureOf(request) === '' ? 200 : 500 }),
    { code: 'http-5xx', confidence: 'proved', says: 'asks the sender to send it again later' },
  ],
  [
    'a receiver that fails while it computes a signature',
    (request) => ({ status: signatureOf(request) === '' ? 401 : 500 }),
    { code: 'http-5xx', confidence: 'likely', says: 'fails while it computes or compares the signature' },
  ],
  [
    'a router that is mounted under its own path',
    routed('/hook/hook', rightBut()),
    { code: 'wrong-path', confidence: 'proved', says: 'one does at /hook/hook: a forged message gets 401' },
  ],
  [
    'a route with a slash at its end',
    routed('/hook/', rightBut()),
    {
      code: 'wrong-path',
      confidence: 'proved',
      says: 'no route takes POST at /hook, but one does at /hook/:',
    },
  ],
  [
    'a receiver that hashes only the fields it knows',
    (request) => {
      const fields = isJson(request.body) ? (JSON.parse(request.body.toString()) as object) : {};
      const known = Object.entries(fields).filter(([name]) => /^(?:type|userId|event)$/.test(name));
      const isRight = signatureOf(request) === hmac(JSON.stringify(Object.fromEntries(known)));
      return { status: isRight ? 200 : 401 };
    },
    {
      code: 're-serialised',
      confidence: 'proved',
      says: 'verifies a message of `type` alone, but not one with `version`, `properties`, `timestamp` or `messageId`',
    },
  ],
  [
    'a firewall that rejects the User-Agent of hooks',
    (request) =>
      String(request.headers['user-agent']).startsWith('Mozilla')
        ? rightBut()(request)
        : { status: 403, body: '<center>nginx</center>' },
    { code: 'blocks-user-agent', confidence: 'proved', says: 'the User-Agent Mozilla/5.0 gets 200, and 403' },
  ],
  [
    'a JSON parser behind another reader of the body',
    ({ headers }) => (headers['content-type'] === 'application/json' ? 'hang' : { status: 415 }),
    { code: 'timeout', confidence: 'likely', says: 'at once if its Content-Type is not JSON (415)' },
  ],
  [
    'a route that rejects every message',
    routed('/hook', () => ({ status: 401 })),
    {
      code: 'refuses-valid',
      confidence: 'likely',
      says: 'another path gets 404; what remains: a different secret, header or hash',
    },
  ],
])('compares with other requests to explain %s', async (_, receiver, { says, ...expected }) => {
  const told = await explanationsAt('/hook', receiver, '--only', 'page,track');
  expect(told).toMatchObject([{ ...expected, says: expect.stringContaining(says) as string }]);
});

it('does not blame the handler for one late response', async () => {
  let requests = 0;
  const told = await explanations(
    () => (requests++ === 0 ? 'hang' : { status: 400 }),
    '--only',
    'page,track',
  );
  expect(told.map(({ says }) => says)).toContainEqual(
    expect.stringContaining('when it was sent again (400)'),
  );
});

it('names a limit on requests if the same message is accepted a little later', async () => {
  let last = 0;
  const told = await explanations((request) => {
    const isQuick = performance.now() - last < 500;
    last = performance.now();
    return isQuick ? { status: 503 } : rightBut()(request);
  });
  expect(told).toMatchObject([
    { code: 'rate-limit', says: expect.stringContaining('a second later') as string },
  ]);
});

it('counts no check as passed on a receiver that rejects everything', async () => {
  const { port, close } = await startHttp(() => ({ status: 401 }));
  onTestFinished(close);
  const only = 'redirect,page,unknown-type,unsigned';
  const { stdout } = await hooks(['test', `http://127.0.0.1:${port}/`, '--secret', SECRET, '--only', only]);
  expect(stdout).toContain('0 passed, 1 failed, 3 not tried');
  expect(stdout).toContain('not tried: redirect, unknown-type, unsigned');
});

/** A receiver whose right signature is in `header` and is made by `digest`, and its response to every other request. */
function verifying(digest: (body: Buffer) => string, header = 'x-signature'): Respond {
  return ({ headers, body }) => ({ status: headers[header] === digest(body) ? 200 : 401 });
}

it.each<[string, Respond, { code: string; says: string }]>([
  [
    'a receiver that reads another header',
    verifying(hmac, 'x-webhook-signature'),
    { code: 'other-header', says: 'it reads the signature from X-Webhook-Signature, not from X-Signature' },
  ],
  [
    'a receiver that reads another header and expects another hash',
    verifying((body) => createHmac('sha256', SECRET).update(body).digest('hex'), 'x-hub-signature'),
    { code: 'sha256', says: 'SHA-256 instead of SHA-1, in X-Hub-Signature' },
  ],
  [
    'a receiver that signs the path before the body',
    verifying((body) => hmac(`/hook.${body.toString()}`)),
    { code: 'other-template', says: 'over {path}.{body}' },
  ],
  [
    'a receiver that hashes twice',
    verifying((body) => hmac(hmac(body))),
    { code: 'hashed-twice', says: 'as the HMAC of the right HMAC in hex' },
  ],
])('names the mistake of %s, by the signature that it accepts', async (_, receiver, { says, code }) => {
  const told = await explanationsAt('/hook', receiver, '--only', 'track');
  expect(told).toMatchObject([{ code, confidence: 'proved', says: expect.stringContaining(says) as string }]);
});

it.each<[string, Respond, string]>([
  [
    'the header, if a message without a signature gets another response',
    ({ headers }) => ({ status: headers['x-signature'] === undefined ? 400 : 401 }),
    'so it reads the right header; what remains: a different secret',
  ],
])('names the mistakes that remain, and rules out %s', async (_, receiver, says) => {
  const told = await explanationsAt('/hook', receiver, '--only', 'track');
  expect(told).toMatchObject([{ code: 'refuses-valid', says: expect.stringContaining(says) as string }]);
});

it.each([400, 500])('does not say that it accepts everything if a forgery got %d', async (status) => {
  const [unsigned] = await explanations((request) => {
    const isSigned = signatureOf(request) === hmac(request.body);
    return { status: isSigned || signatureOf(request) === '' ? 200 : status };
  });
  expect(unsigned).toMatchObject({ code: 'accepts-unsigned', checks: ['unsigned'] });
});

it('says that it accepts forgeries, if some of them pass with and without a signature', async () => {
  const [first] = await explanations((request) => ({
    status: /[^\x20-\x7e]/.test(signatureOf(request)) ? 500 : isJson(request.body) ? 200 : 400,
  }));
  expect(first).toMatchObject({
    code: 'accepts-forgeries',
    checks: ['unsigned', 'wrong-signature', 'short-signature', 'tampered', 'other-secret'],
  });
});

const trims: Respond = ({ headers, body }) => {
  if (headers['x-signature'] !== hmac(body.toString().trim())) return { status: 401 };
  return isJson(body) ? {} : { status: 400 };
};

it('names a receiver that trims the body before it hashes it', async () => {
  const found = await explanations(trims);
  expect(found).toHaveLength(1);
  expect(found[0]).toMatchObject({ checks: ['raw-bytes'], confidence: 'proved' });
  expect(found[0]?.says).toContain('without the white space around the body');
});

it.each<[string, Respond, { code: string; hint: string }]>([
  [
    'an exception that rejects a forgery',
    ({ headers, body }) => {
      if (headers['x-signature'] !== hmac(body)) return { status: 500, body: 'Error: bad signature' };
      return isJson(body) ? {} : { status: 400 };
    },
    { code: 'exception', hint: 'catch this exception where the receiver verifies, and respond with 401' },
  ],
  [
    'a digest that is hashed again',
    ({ headers, body }) => {
      const digest = createHash('sha1').update(hmac(body)).digest('hex');
      return { status: headers['x-signature'] === digest ? 200 : 401 };
    },
    { code: 'hashed-twice', hint: 'hash once, with an HMAC that is keyed with the secret' },
  ],
])('tells how to fix %s', async (_, receiver, { code, hint }) => {
  const [first] = await explanations(receiver, '--only', 'track,unsigned');
  expect(first).toMatchObject({ code, hint: expect.stringContaining(hint) as string });
});

it('names another hash and encoding in the wanted header, rather than a scheme that has both', async () => {
  const [first] = await explanations(({ headers, body }) => {
    const digest = createHmac('sha256', SECRET).update(body).digest('base64');
    return headers['x-signature'] === digest ? {} : { status: 401 };
  });
  expect(first).toMatchObject({ code: 'sha256', confidence: 'proved' });
  expect(first?.says).toContain(
    'an HMAC with SHA-256 instead of SHA-1 and the digest in base64 instead of hex',
  );
});

it('expects a direct response, not the lack of a redirect, from a receiver that is late', async () => {
  const { port, close } = await startHttp(() => 'hang');
  onTestFinished(close);
  const args = [
    'test',
    `http://127.0.0.1:${port}/`,
    '--secret',
    SECRET,
    '--timeout',
    '200ms',
    '--only',
    'redirect',
  ];
  const { stdout } = await hooks(args);
  expect(stdout).toContain(', expected a direct response ');
});
