import { join } from 'node:path';
import { beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { verify } from '../../src/index.ts';
import { MESSAGE_TYPES } from '../../src/message/types.ts';
import {
  loadPlan,
  matchers,
  sample,
  signedRequest,
  startTestReceiver,
  type TestReceiver,
} from '../../src/testing/testing.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const { toHaveReceived, toHaveReceivedInOrder, toMatchSchema, toFollowPlan } = matchers;

let receiver: TestReceiver;
beforeEach(async () => {
  receiver = await startTestReceiver();
  onTestFinished(() => receiver.close());
});

async function send(...batch: readonly object[]): Promise<void> {
  await fetch(`${receiver.host}/v1/batch`, { method: 'POST', body: JSON.stringify({ batch }) });
}

const track = (event: string, properties: object = {}): object => ({
  type: 'track',
  event,
  userId: 'u1',
  properties,
});

describe('a test receiver', () => {
  it('has the messages of calls and webhooks until it is cleared', async () => {
    await send({ type: 'identify', userId: 'u1' }, track('Signup', { total: 5 }));
    await fetch(receiver.url, { method: 'POST', body: JSON.stringify(track('Login')) });
    expect(receiver.messages().map(({ type }) => type)).toEqual(['identify', 'track', 'track']);
    expect(receiver.messages('event=Signup')).toEqual([track('Signup', { total: 5 })]);
    expect(receiver.messages({ properties: { total: 5 } })).toHaveLength(1);
    expect(receiver.messages(({ event }) => event === 'Login')).toHaveLength(1);
    receiver.clear();
    expect(receiver.messages()).toEqual([]);
  });

  it('waits for messages and names the nearest message if they are missing', async () => {
    const waiting = receiver.waitFor('type=track', { count: 2 });
    await send(track('A'));
    await send(track('B'));
    expect(await waiting).toHaveLength(2);
    await expect(receiver.waitFor({ event: 'Signup' }, { withinMs: 1 })).rejects.toThrow(
      'Expected 1 message with {"event":"Signup"} within 1ms, got 0 of 2 messages',
    );
    await expect(receiver.waitFor('event=b', { withinMs: 1 })).rejects.toThrow(
      /request 2 \(track "B" by u1\) comes nearest:\n {2}event: expected b, got B/,
    );
  });

  it('has the verdict on the signature of each request, by its scheme', async () => {
    const signed = await startTestReceiver({ secret: 's3cret', scheme: 'github' });
    onTestFinished(() => signed.close());
    const post = (path: string, init: RequestInit): Promise<Response> =>
      fetch(signed.url + path, { ...init, method: 'POST' });
    await post('/hook', signedRequest(sample('track'), { secret: 's3cret', scheme: 'github' }));
    await post('/hook', signedRequest(sample('track'), { secret: 'other', scheme: 'github' }));
    await post('/hook', { body: '{}' });
    await post('/v1/track', { body: JSON.stringify(track('A')) });
    const requests = signed.requests();
    expect(requests.map(({ verdict }) => verdict)).toEqual(['valid', 'invalid', 'unsigned', 'unchecked']);
    expect(requests[0]).toEqual({
      method: 'POST',
      path: '/hook',
      status: 200,
      verdict: 'valid',
      messages: signed.messages().slice(0, 1),
    });
    expect(requests[1]?.reason).toMatch(/secret/);
    signed.clear();
    expect(signed.requests()).toEqual([]);
    await fetch(receiver.url, signedRequest(sample('track'), { secret: 's3cret' }));
    expect(receiver.requests()[0]?.verdict).toBe('unchecked');
  });

  it('responds with its script and closes by asyncDispose', async () => {
    const failing = await startTestReceiver({ respond: '503', writeKey: 'k' });
    const response = await fetch(`${failing.host}/v1/track`, { method: 'POST', body: '{}' });
    expect([response.status, failing.writeKey]).toEqual([503, 'k']);
    await failing[Symbol.asyncDispose]();
    await expect(fetch(failing.url)).rejects.toThrow();
    await expect(startTestReceiver({ wrong: 1 } as never)).rejects.toThrow('Expected an option, got `wrong`');
  });
});

describe('a test receiver as a tracking API', () => {
  it('lists the messages that a tracking API would drop, by the size of the fields of the caller', async () => {
    const properties = { text: 'x'.repeat(32_768) };
    await send(track('Small'), track('Big', properties), { type: 'page' });
    await fetch(`${receiver.host}/v1/batch`, { method: 'POST', body: '{' });
    expect(receiver.rejections()).toMatchObject([
      { code: 'too-large', message: { event: 'Big' } },
      { code: 'invalid', message: { type: 'page' } },
      { code: 'invalid', reason: 'The text ends inside the object (line 1, column 2)' },
    ]);
    const big = Buffer.byteLength(JSON.stringify(track('Big', properties))).toLocaleString('en');
    const { pass, message } = toHaveReceived(receiver, 'event=Big');
    expect([pass, message()]).toEqual([
      false,
      [
        'Expected a message with event=Big that a tracking API takes, got one that it drops:',
        `  2. track "Big" by u1: Expected a message of at most 32,768 bytes as JSON, got ${big}`,
      ].join('\n'),
    ]);
    expect(toHaveReceived.call({ isNot: true }, receiver, 'event=Big').pass).toBe(true);
    expect(toHaveReceived(receiver, '1x event=Big').pass).toBe(true);
    receiver.clear();
    expect(receiver.rejections()).toEqual([]);
  });

  it('excludes messages without a 2xx, which are retried', async () => {
    const failing = await startTestReceiver({ respond: '503,200' });
    onTestFinished(() => failing.close());
    const body = JSON.stringify({ batch: [track('A')] });
    const post = (): Promise<Response> => fetch(`${failing.host}/v1/batch`, { method: 'POST', body });
    expect([(await post()).status, (await post()).status]).toEqual([503, 200]);
    expect(failing.requests().map(({ status, messages }) => [status, messages.length])).toEqual([
      [503, 1],
      [200, 1],
    ]);
    expect(failing.messages()).toHaveLength(1);
    expect(toHaveReceived(failing, '1x event=A').pass).toBe(true);
  });
});

describe('matchers', () => {
  it('find a message by a filter, an object or a function, and show the differences', async () => {
    await send({ type: 'identify', userId: 'u1' }, track('Signup', { total: '12.5' }));
    for (const matcher of [
      'event=Signup',
      '1x type=track',
      { event: expect.stringMatching(/^Sign/) as unknown },
      (): boolean => true,
    ]) {
      expect(toHaveReceived(receiver, matcher).pass).toBe(true);
    }
    const wrong = toHaveReceived(receiver, { event: 'Signup', properties: { total: 12.5 } });
    expect([wrong.pass, wrong.message()]).toEqual([
      false,
      [
        'Expected 1 message with {"event":"Signup","properties":{"total":12.5}}, got 0 of 2 messages',
        'message 2 of request 1 (track "Signup" by u1) comes nearest:',
        '  properties.total: expected 12.5, got "12.5"',
      ].join('\n'),
    ]);
    expect(toHaveReceived(receiver, '2x event=Signup').message()).toContain(
      'Expected exactly 2 messages with event=Signup, got 1 of 2',
    );
    expect(toHaveReceived(receiver, 'event=Signup').message()).toContain(
      'Expected no message with event=Signup, got 1:\n  2. track "Signup" by u1',
    );
    expect(() => toHaveReceived({}, 'a=b')).toThrow('Expected a receiver of startTestReceiver');
    expect(() => toHaveReceived(receiver, 'a==b')).toThrow('Expected an operator');
  });

  it('find messages in order, with other messages between', async () => {
    await send({ type: 'identify', userId: 'u1' }, track('A'), track('B'));
    expect(toHaveReceivedInOrder(receiver, ['type=identify', { event: 'B' }]).pass).toBe(true);
    const { pass, message } = toHaveReceivedInOrder(receiver, ['event=B', 'event=A']);
    expect([pass, message()]).toEqual([false, expect.stringContaining('event=A is missing after event=B')]);
  });

  it('match schemas of all events, or one schema for given messages', async () => {
    await send(track('A', { n: 1 }), track('A', { n: '1' }));
    const number = { properties: { properties: { properties: { n: { type: 'number' } } } } };
    expect(toMatchSchema(receiver, { A: {} }).pass).toBe(true);
    expect(toMatchSchema(receiver.messages()[0], number).pass).toBe(true);
    expect(toMatchSchema(receiver, { A: number }).message()).toBe(
      'message 2 of request 1 (track "A" by u1) does not match the schema:\n  properties.n: expected a value of type number, got "1"',
    );
    expect(toMatchSchema(receiver, { B: {} }).message()).toContain('expected an event with a schema');
    expect(toMatchSchema([], number).pass).toBe(false);
    expect(() => toMatchSchema(receiver, { type: 'strnig' })).toThrow(
      'Expected a JSON Schema that compiles: expected one of',
    );
  });
});

describe('toFollowPlan', () => {
  const jsonSchema = { properties: { properties: { properties: { n: { type: 'number' } } } } };
  const rules = [{ key: 'A', type: 'TRACK', version: 1, jsonSchema }];
  const file = join(temporaryFolder({ 'plan.json': JSON.stringify({ rules }) }), 'plan.json');

  it('passes if every message follows the plan', async () => {
    const plan = await loadPlan(file);
    await send(track('A', { n: 1 }), track('A', { n: 2 }));
    expect(toFollowPlan(receiver, plan).pass).toBe(true);
    expect(toFollowPlan(receiver, plan).message()).toBe(
      'Expected a message that does not follow the plan, got track "A" by u1',
    );
  });

  it('names the property that a message has misspelled', async () => {
    const plan = await loadPlan(file);
    await send(track('A', { n: 1 }), track('A', { nn: 1 }));
    const result = toFollowPlan(receiver, plan);
    expect([result.pass, result.message()]).toEqual([
      false,
      'message 2 of request 1 (track "A" by u1) does not follow the plan:\n  properties.nn: expected nothing (is "n" meant?), got 1',
    ]);
    expect(toFollowPlan([], plan).message()).toBe('Expected messages that follow the plan, got no message');
  });

  it('needs a plan that is loaded and can be used', async () => {
    expect(() => toFollowPlan(receiver, 'plan.json' as never)).toThrow(
      'Expected a plan of loadPlan, got a string',
    );
    await expect(loadPlan(`${file}.missing`)).rejects.toThrow('Cannot be read');
  });
});

describe('the write key', () => {
  const writeKey = 'KEY-OF-A-WORKSPACE';

  it('is compared in full, but only requests() has the full key', async () => {
    const body = JSON.stringify({ batch: [track('A')], writeKey });
    await fetch(`${receiver.host}/v1/batch`, { method: 'POST', body });
    for (const matcher of [
      `writeKey=${writeKey}`,
      { writeKey },
      (sent: object) => Object.values(sent).includes(writeKey),
    ]) {
      expect(toHaveReceived(receiver, matcher).pass).toBe(true);
    }
    expect(receiver.messages()[0]).toEqual({ ...track('A'), writeKey: '…PACE' });
    expect(await receiver.waitFor('type=track')).toEqual(receiver.messages());
    expect(receiver.requests()).toMatchObject([{ writeKey, messages: [{ writeKey }] }]);
    for (const other of ['writeKey=ANOTHER-WORKSPACE', { writeKey: 'ANOTHER-WORKSPACE' }]) {
      const { pass, message } = toHaveReceived(receiver, other);
      expect([pass, message()]).toEqual([
        false,
        expect.stringMatching(/writeKey: expected …PACE, got "?…PACE/),
      ]);
      expect(message()).not.toMatch(/KEY-OF|ANOTHER/);
    }
    const strict = {
      type: 'object',
      properties: { type: {}, event: {}, userId: {}, properties: {} },
      additionalProperties: false,
    };
    expect(toMatchSchema(receiver, strict).pass).toBe(true);
  });
});

describe('an unreadable body', () => {
  it('is a rejection, and fails negated matchers and schemas', async () => {
    await send(track('A'));
    await fetch(receiver.url, { method: 'POST', body: 'email=a%40b.c' });
    const reason = 'Expected a value, got `email` (line 1, column 1)';
    expect(receiver.rejections()).toEqual([{ code: 'invalid', reason }]);
    const none = toHaveReceived.call({ isNot: true }, receiver, 'properties.email?');
    const said = `Expected every request to be readable, got one that is not: ${reason}`;
    expect([none.pass, none.message()]).toEqual([true, said]);
    const fits = toMatchSchema(receiver, { A: {} });
    expect([fits.pass, fits.message()]).toEqual([false, said]);
    expect(toHaveReceived(receiver, 'event=A').pass).toBe(true);
  });

  it('fails the same matchers if the receiver rejects its request', async () => {
    await send(track('A'));
    const { status } = await fetch(receiver.url, { method: 'POST', body: Buffer.alloc(10_485_761) });
    expect(status).toBe(413);
    const reason = 'it was rejected with 413: its body is over 10485760 bytes';
    expect(receiver.rejections()).toEqual([{ code: 'invalid', reason }]);
    expect(toHaveReceived.call({ isNot: true }, receiver, 'properties.email?').pass).toBe(true);
  });
});

describe('a signed request', () => {
  it('verifies with any scheme and has the body of a delivery', () => {
    const request = signedRequest(
      { type: 'track', event: 'A', userId: 'u1', messageId: 'm1' },
      { secret: 's' },
    );
    expect(
      verify({ body: request.body, signature: request.headers['X-Signature'] ?? '', secrets: ['s'] }),
    ).toMatchObject({ valid: true });
    expect(JSON.parse(request.body)).toMatchObject({ version: 1, type: 'track', event: 'A' });
    expect(signedRequest('text', { secret: 's', scheme: 'github' }).headers['X-Hub-Signature-256']).toMatch(
      /^sha256=/,
    );
    expect(() => signedRequest({ type: 'track' }, { secret: 's' })).toThrow('Expected `event`');
  });

  it('may be of a sample of each type', () => {
    for (const type of MESSAGE_TYPES) {
      expect(sample(type, { messageId: 'm1' })).toMatchObject({ type, messageId: 'm1' });
    }
    expect(sample('track', { event: 'Own' })['event']).toBe('Own');
  });
});
