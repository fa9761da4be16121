import { describe, expect, it } from 'vitest';
import * as library from '../src/index.ts';
import * as testing from '../src/testing/testing.ts';

/** Values that TypeScript rejects, but JavaScript can pass. */
const WRONG: readonly unknown[] = [
  null,
  0,
  -1,
  1e20,
  NaN,
  Infinity,
  true,
  '',
  'text',
  Symbol('symbol'),
  5n,
  [],
  [1, 2],
  [null],
  [[1]],
  [['name']],
  [undefined, 1],
  ['name', undefined],
  {},
  { name: 1 },
  { name: { value: null } },
  () => 1,
  new Date(NaN),
  new Map([[1, 2]]),
  new Set([1]),
  new Uint8Array(3),
  Object.create(null),
];

type Options = Readonly<Record<string, unknown>>;
/** A function without its types, as JavaScript calls it. */
type Call = (options: unknown) => unknown;

const VERIFY: Options = {
  body: '{}',
  signature: 'a'.repeat(40),
  headers: [['x-signature', 'a']],
  scheme: 'segment',
  at: 0,
  ignoreTimestamp: true,
  secrets: ['secret'],
  exact: false,
  diagnose: true,
  otherSecrets: [{ secret: 'other', origin: 'HOOKS_SECRET' }],
  secretOrigin: 'HOOKS_SECRET',
};
const { body: _, ...VERIFIER } = VERIFY;

/** Each function that accepts options, with valid options. */
const FUNCTIONS: Readonly<Record<string, readonly [call: Call, options: Options]>> = {
  verify: [library.verify as Call, VERIFY],
  'verify by headers': [
    library.verify as Call,
    { body: '{}', secrets: ['secret'], scheme: 'github', headers: {} },
  ],
  Verifier: [(options) => new library.Verifier(options as library.VerifyOptions).finish(), VERIFIER],
  signRequest: [
    library.signRequest as Call,
    { body: '{}', secrets: ['secret'], scheme: 'segment', id: 'id', at: 1e12 },
  ],
  buildMessage: [
    (options) => library.buildMessage({ type: 'page', userId: 'u1' }, options as library.BuildOptions),
    { now: 0, strict: true, anonymousId: () => 'id' },
  ],
  createDeliveryPipeline: [
    library.createDeliveryPipeline as Call,
    {
      webhooks: ['http://127.0.0.1:1/'],
      sharedSecret: 'secret',
      scheme: 'segment',
      delivery: {},
      client: {},
    },
  ],
  'createDeliveryPipeline with sources': [
    library.createDeliveryPipeline as Call,
    { sources: { web: { destinations: {} } }, source: 'web' },
  ],
  createTrackingApiPipeline: [
    library.createTrackingApiPipeline as Call,
    { endpoint: 'http://127.0.0.1:1/', writeKey: 'key', timeoutMs: 100, retryForMs: 100, maxInFlight: 1 },
  ],
  startReceiver: [
    library.startReceiver as Call,
    {
      secrets: ['secret'],
      onRequest: () => {},
      onPreflight: () => {},
      port: 0,
      scheme: 'segment',
      detectSchemes: false,
      knownSecrets: {},
      script: [],
      limits: {},
      requireSignature: false,
    },
  ],
  startTestReceiver: [
    testing.startTestReceiver as Call,
    { port: 0, writeKey: 'key', respond: '200', secret: 'secret', scheme: 'segment' },
  ],
  signedRequest: [
    (options) =>
      testing.signedRequest({ type: 'page', userId: 'u1' }, options as testing.SignedRequestOptions),
    { secret: 'secret', scheme: 'segment' },
  ],
};

/** Returns an unexpected error of a call: not one of this package. Closes what the call started. */
async function unexpectedErrorOf(call: () => unknown): Promise<string | undefined> {
  try {
    const result = await call();
    if (typeof result === 'object' && result !== null && 'close' in result) {
      await (result.close as () => unknown)(); // a pipeline or a receiver
    }
    return undefined;
  } catch (error) {
    return error instanceof library.HooksError ? undefined : String(error);
  }
}

async function surprises(
  calls: readonly (readonly [what: string, call: () => unknown])[],
): Promise<string[]> {
  const found: string[] = [];
  for (const [what, call] of calls) {
    const surprise = await unexpectedErrorOf(call);
    if (surprise !== undefined) found.push(`${what}: ${surprise}`);
  }
  return found;
}

describe('options that JavaScript passes', () => {
  it.each(Object.entries(FUNCTIONS))(
    'make %s throw a documented error if they are invalid',
    async (_name, [call, options]) => {
      const whole = WRONG.map((wrong, index) => [`WRONG[${index}]`, () => call(wrong)] as const);
      const single = Object.keys(options).flatMap((key) =>
        WRONG.map(
          (wrong, index) => [`${key}: WRONG[${index}]`, () => call({ ...options, [key]: wrong })] as const,
        ),
      );
      expect(await surprises([['right', () => call(options)], ...whole, ...single])).toEqual([]);
    },
  );

  it('make the methods of a test receiver throw a documented error if they are invalid', async () => {
    const receiver = await testing.startTestReceiver();
    const wait = (options: unknown) =>
      receiver.waitFor('type=track', options as testing.WaitOptions).catch((error: unknown) => {
        if (!String(error).includes('Expected 1 message')) throw error;
      });
    const calls = WRONG.flatMap((wrong, index) => [
      [`messages(WRONG[${index}])`, () => receiver.messages(wrong as testing.MessageMatcher)] as const,
      [
        `count: WRONG[${index}]`,
        () => (typeof wrong === 'number' ? 0 : wait({ withinMs: 1, count: wrong })),
      ] as const,
      [
        `withinMs: WRONG[${index}]`,
        () => (typeof wrong === 'number' ? 0 : wait({ withinMs: wrong })),
      ] as const,
      [
        `waitFor(…, WRONG[${index}])`,
        () => (typeof wrong === 'object' && wrong !== null ? 0 : wait(wrong)),
      ] as const,
    ]);
    expect(await surprises(calls)).toEqual([]);
    await receiver.close();
  });

  it.each([
    [{ headers: [1, 2] }, 'Expected `headers` to be the headers of a request, got other values than text'],
    [
      { headers: new Set(['ab']) },
      'Expected `headers` to be the headers of a request, got other values than text',
    ],
    [{ body: 5 }, 'Expected `body` to be a string or bytes, got a number'],
    [{ otherSecrets: [{}] }, 'Expected `otherSecrets[0].secret` to be a string, got nothing'],
    [{ otherSecrets: ['text'] }, 'Expected `otherSecrets[0]` to be an object, got a string'],
  ])('are named in the error of verify: %j', (wrong, sentence) => {
    expect(() => (library.verify as Call)({ ...VERIFY, ...wrong })).toThrow(sentence);
  });

  it('are named in the error of a receiver: a port', async () => {
    const options = { secrets: [], onRequest: () => {}, port: 65_536 };
    await expect(library.startReceiver(options)).rejects.toThrow(
      'Expected `port` to be from 0 to 65535, got 65536',
    );
  });
});
