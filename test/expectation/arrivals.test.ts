import { describe, expect, it } from 'vitest';
import { ArrivalCheck, type ExpectedArrivals } from '../../src/expectation/arrivals.ts';
import { readExpectedMessage, type ExpectedMessage } from '../../src/expectation/expectation.ts';
import { SchemaCheck } from '../../src/expectation/schema-check.ts';
import { trackingCallOf } from '../../src/receiver/messages/tracking-call.ts';
import type { ReceivedRequest, SignatureVerdict } from '../../src/receiver/received-request.ts';

function arrivals(
  expected: Partial<Omit<ExpectedArrivals, 'matches' | 'each' | 'noMatches'>> & {
    matches?: string[];
    each?: string[];
    noMatches?: string[];
  },
): ArrivalCheck {
  return new ArrivalCheck({
    atLeast: 0,
    atMost: Infinity,
    signed: false,
    ...expected,
    matches: messages(expected.matches),
    each: messages(expected.each),
    noMatches: messages(expected.noMatches),
  });
}

const call = (...batch: readonly object[]): ReceivedRequest => callOf({ batch });

const callOf = (body: unknown): ReceivedRequest => {
  const received = request(body);
  const found = trackingCallOf({ ...received, path: '/v1/batch' });
  return { ...received, ...(found !== undefined && { call: found }) };
};

const track = (event: string, fields: object = {}): object => ({
  type: 'track',
  event,
  userId: 'u1',
  ...fields,
});

function messages(texts: readonly string[] = []): ExpectedMessage[] {
  return texts.map((text) => readExpectedMessage(text, '--match'));
}

function request(
  body: unknown,
  { method = 'POST', verdict = 'unchecked' }: { method?: string; verdict?: SignatureVerdict } = {},
): ReceivedRequest {
  const text = typeof body === 'string' ? body : JSON.stringify(body);
  return {
    at: 0,
    method,
    path: '/',
    rawHeaders: [],
    body: Buffer.from(text),
    verdict,
    answered: 'status',
    status: 200,
    ms: 1,
  };
}

const met = (judged: ArrivalCheck): boolean[] => judged.results().map(({ isMet }) => isMet);

describe('ArrivalCheck', () => {
  it('counts POSTs, exactly or within bounds', () => {
    const exact = arrivals({ atLeast: 2, atMost: 2 });
    exact.add(request({}));
    expect(exact.isOver).toBe(false);
    exact.add(request('', { method: 'PUT' }));
    expect(exact.isOver).toBe(false);
    exact.add(request({}));
    expect([exact.isOver, met(exact)]).toEqual([true, [true]]);
    exact.add(request({}));
    expect(exact.results()).toEqual([
      {
        expectation: 'count',
        isMet: false,
        said: 'Expected 2 requests, got 4 requests: 3 unchecked, 1 not POST',
      },
    ]);
    const bounded = arrivals({ atLeast: 1, atMost: 3 });
    expect(bounded.results()[0]?.said).toBe('Expected at least 1 and at most 3 requests, got no request');
  });

  it('assigns a different request to each match in any order of arrival', () => {
    const judged = arrivals({ matches: ['type=track', 'type=track,event=A'] });
    judged.add(request({ type: 'track', event: 'A' }));
    expect(met(judged).filter(Boolean)).toHaveLength(1);
    judged.add(request({ type: 'track', event: 'B' }));
    expect(judged.results()).toMatchObject([
      { isMet: true, said: 'request 2' },
      { isMet: true, said: 'request 1' },
    ]);
  });

  it('needs two requests for two equal matches', () => {
    const judged = arrivals({ matches: ['type=track', 'type=track'] });
    judged.add(request({ type: 'track' }));
    judged.add(request({ type: 'page' }));
    expect(met(judged)).toEqual([true, false]);
    expect(judged.isOver).toBe(false);
    judged.add(request({ type: 'track' }));
    expect([met(judged), judged.isOver]).toEqual([[true, true], true]);
  });

  it('names the nearest request and its differences', () => {
    const judged = arrivals({ matches: ['type=track,event=Signup,properties.plan=pro'] });
    judged.add(request('no JSON'));
    judged.add(request({ type: 'track', event: 'Signup', properties: { plan: 'free' } }));
    judged.add(request({ type: 'track', event: 'Login' }));
    const differences = [
      { path: 'properties.plan', expected: 'pro', wanted: 'pro', got: 'free', found: 'free' },
    ];
    expect(judged.results()).toMatchObject([{ isMet: false, nearest: { request: 2, differences } }]);
  });

  it('requires every request to match --each', () => {
    const judged = arrivals({ each: ['type!=delete'] });
    judged.add(request({ type: 'track' }));
    expect(met(judged)).toEqual([true]);
    judged.add(request({ type: 'delete' }));
    expect(judged.results()).toMatchObject([{ isMet: false, nearest: { request: 2 } }]);
  });

  it('requires every signature to be valid if there is a secret', () => {
    const judged = arrivals({ atLeast: 2, atMost: 2, signed: true });
    judged.add(request({}, { verdict: 'valid' }));
    expect(met(judged)).toEqual([false, true]);
    judged.add(request({}, { verdict: 'unsigned' }));
    expect(met(judged)).toEqual([true, false]);
  });

  it('matches the last of 5,000 requests', () => {
    const judged = arrivals({ matches: ['type=track', 'type=track', 'type=track,event=last'] });
    for (let index = 0; index < 5_000; index++) judged.add(request({ type: 'track', event: `${index}` }));
    judged.add(request({ type: 'track', event: 'last' }));
    expect(met(judged)).toEqual([true, true, true]);
  });

  it('counts the messages of all requests', () => {
    const judged = arrivals({ messages: 3 });
    judged.add(call(track('A'), track('B')));
    expect(judged.isOver).toBe(false);
    expect(judged.results()).toMatchObject([{ said: 'Expected 3 messages, got 2 messages in 1 request' }]);
    judged.add(request(track('C')));
    expect([judged.isOver, met(judged), judged.messages]).toEqual([true, [true], 3]);
    judged.add(call({ type: 'page', userId: 'u1' }));
    expect(met(judged)).toEqual([false]);
    expect(arrivals({ messages: 1 }).results()[0]?.said).toBe('Expected 1 message, got no request');
  });

  it('names the message that matches, and the one whose letters come nearest', () => {
    const judged = arrivals({ matches: ['event=Order Completed', 'event=Signup'] });
    judged.add(
      call({ type: 'identify', userId: 'u1' }, track('Order'), track('Sign Up'), track('Order Completed')),
    );
    expect(judged.results()).toMatchObject([
      { isMet: true, said: 'message 4 of request 1' },
      {
        isMet: false,
        said: 'none of 4 messages matches',
        nearest: { label: 'message 3 of request 1 (track "Sign Up" by u1)', request: 1, message: 3 },
      },
    ]);
  });

  it('does not count messages that got no 2xx, because their sender sends them again', () => {
    const judged = arrivals({ atLeast: 3, atMost: 3, messages: 1, matches: ['1x event=A', 'event=B'] });
    judged.add({ ...call(track('A')), status: 503 });
    judged.add({ ...call(track('A')), status: undefined, answered: 'reset' });
    expect([judged.isOver, judged.messages]).toEqual([false, 0]);
    const none = 'no message in 2 requests; 2 messages of requests that got no 2xx do not count';
    expect(judged.results()).toMatchObject([
      { isMet: false },
      { said: `Expected 1 message, got ${none}` },
      { said: `Expected a message, got ${none}` },
      { said: `Expected exactly 1, got ${none}` },
    ]);
    judged.add(call(track('A')));
    expect(met(judged)).toEqual([true, true, false, true]);
  });

  it('requires a message for --each', () => {
    const some = arrivals({ atLeast: 1, each: ['userId?'], someMessage: true });
    expect(met(some)).toEqual([false, true]);
    some.add(request('no JSON'));
    expect(some.results().find(({ isMet }) => !isMet)).toMatchObject({
      expectation: 'messages',
      said: 'Expected at least 1 message, got no message in 1 request',
    });
  });

  it.each([
    ['a form', 'email=a%40b.c', 'Expected a value, got `email`'],
    ['truncated JSON', '{"properties":{"email":"a@b.c"', 'The text ends inside the object'],
    ['JSON 600 levels deep', `${'['.repeat(600)}${']'.repeat(600)}`, '512'],
    ['bytes that are not UTF-8', Buffer.from('7b2261223a22ff227d', 'hex'), 'UTF-8'],
    ['an empty body', '', 'empty'],
    ['a number', '5', 'expected an object or a list of objects'],
    ['a list with a text', '[{},"a@b.c"]', 'expected an object or a list of objects'],
    ['an empty list', '[]', 'it has no message'],
    ['a key twice', '{"properties":{"email":"a@b.c"},"properties":{}}', '`properties`'],
  ])('fails every check of content for %s, with the reason', (_what, body, reason) => {
    const schema = new SchemaCheck(() => [], { expectation: 'schema', filter: 's.json' });
    const judged = arrivals({
      atLeast: 2,
      matches: ['event=A', '0x event=B'],
      noMatches: ['properties.email?'],
      each: ['type!=page'],
      checks: [schema],
    });
    judged.add(request(track('A', { type: 'identify' })));
    expect(met(judged)).toEqual([false, true, true, true, true, true]);
    judged.add({ ...request(''), body: Buffer.from(body) });
    expect(met(judged)).toEqual([true, false, false, false, false, false]);
    for (const { said, expectation } of judged.results().slice(1)) {
      expect(said, expectation).toMatch(/^request 2 cannot be read: /);
      expect(said, expectation).toContain(reason);
    }
  });

  it('fails checks of content for a rejected or empty call, but not for a retried request or one that is not a POST', () => {
    const noMatches = ['properties.email?'];
    for (const body of ['{"batch":[{"properties":{"email":', '{"batch":[]}']) {
      const judged = arrivals({ noMatches });
      judged.add({ ...callOf(body), status: body.endsWith('}') ? 200 : 400 });
      expect(judged.results()[0], body).toMatchObject({ expectation: 'no-match', isMet: false });
      expect(judged.unread, body).toMatch(/^request 1 cannot be read: ./);
    }
    const judged = arrivals({ noMatches });
    judged.add({ ...request('no JSON'), status: 503 });
    judged.add(request('', { method: 'OPTIONS' }));
    judged.add(request('', { method: 'GET' }));
    expect([met(judged), judged.unread]).toEqual([[true], undefined]);
  });

  it.each([413, 431, 400])('fails checks of content if the receiver rejected a request with %i', (status) => {
    const judged = arrivals({ noMatches: ['properties.email?'] });
    judged.add(request(track('A')));
    judged.addRejection({ at: 0, status, reason: 'its body is over 10 bytes' });
    const said = `a request cannot be read: it was rejected with ${status}: its body is over 10 bytes`;
    expect(judged.results()[0]).toMatchObject({ isMet: false, said });
  });

  it.each([408, 503, undefined])(
    'passes if the sender of a rejected request sends it again: %s',
    (status) => {
      const judged = arrivals({ noMatches: ['properties.email?'] });
      judged.add(request(track('A')));
      judged.addRejection({ at: 0, status, reason: 'it was sent too slowly' });
      expect(met(judged)).toEqual([true]);
    },
  );

  it('reads an empty user id as absent on any path', () => {
    const message = { type: 'page', userId: '', anonymousId: 'a', originalTimestamp: '2026-11-20T00:00:00Z' };
    const judged = arrivals({ noMatches: ['userId?'], each: ['timestamp=2026-11-20'] });
    judged.add(request(message));
    judged.add(call(message));
    expect(met(judged)).toEqual([true, false]);
  });

  it.each(['null', '5', '"a"', '[]'])('reads a batch on any path that has %s beside a message', (other) => {
    const judged = arrivals({ noMatches: ['properties.email?'] });
    const message = JSON.stringify(track('A', { properties: { email: 'a@b.c' } }));
    const received = request(`{"batch":[${message},${other}]}`);
    judged.add({ ...received, call: trackingCallOf(received) ?? { messages: [] } });
    expect(met(judged)).toEqual([false, false]);
  });

  it('requires the exact number of a counted match, which shares its messages with other matches', () => {
    const judged = arrivals({ matches: ['2x type=track', 'event=A', '0x event=C'] });
    judged.add(call(track('A'), track('B')));
    expect(met(judged)).toEqual([true, true, true]);
    judged.add(call(track('C')));
    expect(judged.results().filter(({ isMet }) => !isMet)).toMatchObject([
      {
        filter: '2x type=track',
        said: 'Expected exactly 2, got 3 of 3 messages (message 1 of request 1, message 2 of request 1, request 2)',
      },
      { filter: '0x event=C', said: 'Expected exactly 0, got 1 of 3 messages (request 2)' },
    ]);
  });

  it('rejects a message that matches --no-match, and shows its values', () => {
    const judged = arrivals({ noMatches: ['properties.email?'] });
    judged.add(call(track('A'), track('B', { properties: { email: 'a@b.c' } })));
    const differences = [{ path: 'properties.email', got: '"a@b.c"' }];
    expect(judged.results()).toMatchObject([
      {
        expectation: 'no-match',
        isMet: false,
        said: '1 of 2 messages matches',
        differing: [{ differences }],
      },
    ]);
  });

  it('requires the matches in their order', () => {
    const inOrder = true;
    const judged = arrivals({ matches: ['type=identify', 'event=A', 'event=A', 'event=B'], inOrder });
    judged.add(call({ type: 'identify', userId: 'u1' }, track('A'), track('X'), track('A')));
    expect(judged.isOver).toBe(false);
    judged.add(call(track('B')));
    expect([met(judged), judged.isOver]).toEqual([[true, true, true, true], true]);
    const late = arrivals({ matches: ['type=identify', 'type=track', 'type=page'], inOrder });
    late.add(call(track('A'), { type: 'identify', userId: 'u1' }));
    expect(late.results()).toMatchObject([
      { isMet: true, said: 'message 2 of request 1' },
      {
        isMet: false,
        said: 'out of order: message 1 of request 1 comes before message 2 of request 1, which matches type=identify',
      },
      { isMet: false, said: 'none of 2 messages matches' },
    ]);
  });

  it('reports an unmet match in an order once, and still finds later messages out of order', () => {
    const matches = ['type=identify', 'event=Sign up', 'event=B', 'event=C', 'event=D'];
    const judged = arrivals({ matches, inOrder: true });
    judged.add(call({ type: 'identify', userId: 'u1' }, track('Signup'), track('B'), track('C'), track('D')));
    expect([met(judged), judged.isOver]).toEqual([[true, false, true, true, true], false]);
    const swapped = arrivals({ matches, inOrder: true });
    swapped.add(call({ type: 'identify', userId: 'u1' }, track('C'), track('B'), track('D')));
    expect(swapped.results().map(({ said }) => said)).toEqual([
      'message 1 of request 1',
      'none of 4 messages matches',
      'message 3 of request 1',
      'out of order: message 2 of request 1 comes before message 3 of request 1, which matches event=B',
      'message 4 of request 1',
    ]);
  });

  it('explains that another match uses the only matching message', () => {
    const judged = arrivals({ matches: ['event=A', 'type=identify', 'type=track'], inOrder: true });
    judged.add(call({ type: 'identify', userId: 'u1' }, track('A')));
    expect(judged.results().map(({ said }) => said)).toEqual([
      'message 2 of request 1',
      'out of order: message 1 of request 1 comes before message 2 of request 1, which matches event=A',
      'the only message that matches, message 2 of request 1, is taken by event=A before it',
    ]);
  });

  it('masks a write key that a wildcard finds', () => {
    const writeKey = 'KEY-OF-A-WORKSPACE';
    const judged = arrivals({ matches: ['*=x'], noMatches: ['**~^KEY', '*?,**~KEY'], each: ['*!?'] });
    judged.add(request({ writeKey }));
    expect(met(judged)).toEqual([false, false, false, false]);
    expect(JSON.stringify(judged.results())).not.toContain(writeKey);
    expect(judged.results()[0]?.nearest?.differences).toMatchObject([{ path: 'writeKey', got: '…PACE' }]);
  });

  it('notes a field of --no-match that no message has', () => {
    const judged = arrivals({ noMatches: ['proprties.email?', 'properties.email?', 'email?', '**.email?'] });
    judged.add(call({ ...track('A'), properties: { n: 1 } }));
    expect(judged.results().map(({ isMet, said }) => [isMet, said])).toEqual([
      [true, 'none of 1 message matches; note that no message has `proprties`'],
      [true, 'none of 1 message matches'],
      [true, 'none of 1 message matches'],
      [true, 'none of 1 message matches'],
    ]);
  });

  it('tells how many messages do not count, that none matches, and that a text is empty', () => {
    const judged = arrivals({ messages: 1, noMatches: ['event=B'] });
    judged.add({ ...call(track('A')), status: 503 });
    judged.add(call(track('A')));
    expect(judged.results().map(({ said }) => said)).toEqual([
      '1 message; 1 message of requests that got no 2xx does not count',
      'none of 1 message matches',
    ]);
    const empty = arrivals({ matches: ['event='] });
    empty.add(call(track('A')));
    expect(empty.results()[0]?.nearest?.differences).toMatchObject([{ expected: 'an empty text', got: 'A' }]);
  });

  it('requires messages and calls that hooks serve accepts', () => {
    const check = arrivals({ messages: 2 });
    check.add(call(track('A'), { type: 'track', userId: 'u1' }));
    check.add(callOf('{"batch":['));
    expect(check.results()).toEqual([
      expect.objectContaining({ expectation: 'messages', isMet: true }),
      {
        expectation: 'valid',
        isMet: false,
        said: expect.stringMatching(/^hooks serve rejects 1 of 2 requests: the body of request 2: ./),
      },
      {
        expectation: 'valid',
        isMet: false,
        said: expect.stringMatching(/^hooks serve rejects 1 of 2 messages: message 2 of request 1: .*event/),
      },
    ]);
  });

  it('requires messages up to 32 KB from calls and webhooks alike', () => {
    const text = 'x'.repeat(40_000);
    const judged = arrivals({});
    judged.add(call(track('A'), track('B', { properties: { text } })));
    judged.add(
      request(track('exact', { properties: { text: 'x'.repeat(32_700) }, messageId: 'x'.repeat(36) })),
    );
    judged.add(request({ action: 'opened', issue: { text } }));
    judged.add(request({ type: 'track', event: 'of no user', text }));
    expect(judged.results()).toMatchObject([
      {
        expectation: 'size',
        isMet: false,
        said: '1 of 5 messages is over 32 KB: a tracking API drops it',
        differing: [{ label: 'message 2 of request 1 (track "B" by u1)' }],
      },
    ]);
    judged.add(
      request([track('a webhook', { properties: { text } }), { type: 'alias', 'User ID': 'u1', text }]),
    );
    expect(judged.results()[0]?.said).toBe('3 of 7 messages are over 32 KB: a tracking API drops them');
  });

  it('requires no signature of a call of a tracking API', () => {
    const judged = arrivals({ signed: true });
    judged.add(call(track('A'), track('B')));
    expect(judged.results()).toMatchObject([
      { expectation: 'signature', isMet: true, said: '0 valid, 1 call of a tracking API without one' },
    ]);
    judged.add(request(track('A'), { verdict: 'unsigned' }));
    expect(met(judged)).toEqual([false]);
  });
});

describe('a message with a regular expression that takes too long', () => {
  const slow = `${'a'.repeat(40)}!`;

  it('is reported as undecided, and all other checks still run', () => {
    const check = arrivals({
      matches: ['event~(?=a)(a+)+$', 'event=Order'],
      noMatches: ['event~^(a)(a+)+\\1b$'],
      each: ['userId=u1'],
    });
    check.add(call(track(slow), track('a'), track('Order', { userId: 'u2' })));
    expect(check.results()).toMatchObject([
      { expectation: 'match', isMet: true, said: 'message 2 of request 1' },
      { expectation: 'match', isMet: true, said: 'message 3 of request 1' },
      { expectation: 'no-match', isMet: true },
      { expectation: 'each', isMet: false },
      {
        expectation: 'decided',
        isMet: false,
        said: expect.stringMatching(/^1 of 3 messages cannot be judged: message 1 of request 1: The regular/),
      },
    ]);
  });
});
