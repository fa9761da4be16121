import { describe, expect, it } from 'vitest';
import { DELIVERY_DEFAULTS } from '../../../src/engine/options.ts';
import { ConfigError } from '../../../src/errors.ts';
import { createDeliveryPipeline } from '../../../src/app/pipeline/delivery-pipeline.ts';
import { createTrackingApiPipeline } from '../../../src/app/pipeline/tracking-api-pipeline.ts';
import { answer } from '../../engine/harness.ts';
import { A, B, fakeTransport } from '../set-up.ts';

type Call = () => unknown;
type Mistake = readonly [options: object, sentence: string, hint: string];

/** The error of a rejected call. JavaScript callers can pass what the types reject. */
function rejection(call: Call): ConfigError {
  try {
    call();
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error('It was accepted');
}

function expectRejection(call: Call, sentence: string, hint: string): void {
  const { message, hint: way } = rejection(call);
  expect({ message, way }).toEqual({
    message: expect.stringContaining(sentence) as string,
    way: expect.stringContaining(hint) as string,
  });
}

const transport = fakeTransport(() => answer(200));
const destination = {
  enabled: true,
  sharedSecrets: ['s'],
  webhooks: [{ url: A, headers: {} }],
  delivery: DELIVERY_DEFAULTS,
};

function delivering(options: object): Call {
  return () => createDeliveryPipeline({ webhooks: [A], transport, ...options });
}

function deliveringTo(options: object): Call {
  const sources = { default: { destinations: { Webhooks: { ...destination, ...options } } } };
  return () => createDeliveryPipeline({ sources, transport });
}

describe('a delivery pipeline', () => {
  it.each<Mistake>([
    [{ secret: 's' }, 'Expected an option, got `secret`', 'did you mean `sharedSecret`?'],
    [{ sharedSecrets: ['s'] }, 'got `sharedSecrets`', 'did you mean `sharedSecret`?'],
    [{ sharedSecert: undefined }, 'got `sharedSecert`', 'did you mean `sharedSecret`?'],
    [{ strategy: 'broadcast' }, 'got `strategy`', 'did you mean `delivery.strategy`?'],
    [{ timeout: 3 }, 'got `timeout`', 'did you mean `delivery.timeoutMs`?'],
    [{ flushAt: 1 }, 'got `flushAt`', 'did you mean `client.flushAt`?'],
    [{ colour: 'red' }, 'got `colour`', 'the options are webhooks, sharedSecret'],
    [{ onEvent: 'log' }, 'Expected `onEvent` to be a function, got a string', 'leave it out'],
    [{ delivery: 5 }, 'Expected `delivery` to be an object, got a number', 'leave it out'],
    [{ plan: {} }, 'Expected `plan.rules` to be an object, got nothing', 'correct each of them'],
    [
      { plan: { rules: {}, onViolation: 'reject' } },
      'Expected `plan.rules` to be a plan of loadPlan',
      "await loadPlan('plan.json')",
    ],
    [
      { plan: { rules: { violations: () => [] }, onViolation: 'report' } },
      "Expected `plan.onViolation` to be 'reject' or a function, got a string",
      'pass a function',
    ],
    [{ sources: {} }, 'Expected `webhooks` or `sources`, got both', 'for each destination in `sources`'],
    [{ source: 'web' }, 'Expected `source` with `sources`, got it alone', 'remove `source`'],
    [{ webhooks: undefined }, 'Expected `webhooks` to be a list of URLs', 'for example webhooks: ['],
    [{ delivery: { timeoutMs: Number.NaN } }, 'delivery.timeoutMs` to be a whole number', 'from 1 to 30000'],
    [{ delivery: { timeoutMs: '5s' } }, 'timeoutMs` to be a whole number, got "5s"', 'from 1 to 30000'],
    [{ delivery: { retryForMs: -1 } }, 'delivery.retryForMs` to be from 0', 'leave it out'],
    [{ delivery: { health: { failures: 0 } } }, 'delivery.health.failures` to be from 1', 'leave it out'],
    [{ delivery: { strategy: 'all' } }, 'strategy` to be fallback or broadcast, got "all"', 'leave it out'],
    [{ delivery: { timeout: 5 } }, 'delivery`, got `timeout`', 'did you mean `timeoutMs`?'],
  ])('rejects the options %j', (options, sentence, hint) => {
    expectRejection(delivering(options), sentence, hint);
  });

  it.each<Mistake>([
    [{ sharedSecret: [] }, 'Expected `sharedSecret`', 'omit the option to send unsigned'],
    [{ sharedSecret: '' }, 'Expected a shared secret, got an empty one', 'give its text'],
    [{ sharedSecret: null }, 'to be a string or a list of them, got null', 'pass the secret as a string'],
    [{ sharedSecret: Buffer.from('s') }, 'or a list of them, got an object', 'pass the secret as a string'],
    [{ sharedSecret: ['s', 5] }, 'Expected a shared secret, got a number', 'give its text'],
  ])('rejects %j instead of sending unsigned', (options, sentence, hint) => {
    expectRejection(delivering(options), sentence, hint);
  });

  it.each<Mistake>([
    [{ url: A, header: {} }, 'webhooks[0]`, got `header`', 'did you mean `headers`?'],
    [{ url: new URL(A) }, 'webhooks[0].url` to be a string, got an object', '`href`'],
    [{ url: A, headers: [] }, 'webhooks[0].headers` to be an object, got a list', 'cannot be left out'],
    [{ url: A, headers: { 'X-A': 5 } }, 'Expected header `X-A` to be a string, got a number', 'in quotes'],
    [new URL(A), 'Expected `webhooks[0]` to be a URL or { url, headers }, got an object', '`href`'],
    [{}, 'Expected `webhooks[0]` to be a URL or { url, headers }', 'https://host/path'],
  ])('rejects the webhook %j', (webhook, sentence, hint) => {
    expectRejection(delivering({ webhooks: [webhook] }), sentence, hint);
  });

  it.each<Mistake>([
    [
      { sharedSecret: 's' },
      'Expected one of `sources.default.destinations.Webhooks.sharedSecret`',
      'put all',
    ],
    [{ sharedSecrets: 's' }, 'sharedSecrets` to be a list, got a string', 'put it into a list'],
    [{ sharedSecrets: [undefined] }, 'Expected a shared secret, got nothing', 'give its text'],
    [
      { sharedSecrets: undefined, sharedSecret: 5 },
      'Webhooks.sharedSecret` to be a string or',
      'pass the secret as a string',
    ],
    [{ secret: 's' }, 'Webhooks`, got `secret`', 'did you mean `sharedSecret`?'],
    [{ enabled: 1 }, 'enabled` to be a boolean, got a number', 'leave it out'],
    [{ webhooks: undefined }, 'Expected 1 to 5 webhooks for a destination, got 0', 'give it a URL'],
    [
      { webhooks: [A, 5] },
      'Webhooks.webhooks[1]` to be a URL or { url, headers }, got a number',
      'as a string',
    ],
    [{ delivery: { timeoutMs: 0 } }, 'delivery.timeoutMs` to be from 1 to 30000', 'leave it out'],
  ])('rejects a destination with %j', (options, sentence, hint) => {
    expectRejection(deliveringTo(options), sentence, hint);
  });

  it('accepts sources like a config file, with defaults, bare URLs and a shared secret', async () => {
    const requests = fakeTransport(() => answer(200));
    const sources = {
      default: {
        destinations: {
          Webhooks: { webhooks: [A], sharedSecret: ['s', 'older'], delivery: { timeoutMs: 1_234 } },
          Other: { webhooks: [{ url: B }], enabled: undefined },
          Off: { enabled: false },
        },
      },
    };
    const pipeline = createDeliveryPipeline({ sources, transport: requests });
    void pipeline.client.track({ userId: 'u', event: 'E' });
    await pipeline.close();
    expect(requests.requests).toMatchObject([
      { url: A, timeoutMs: 1_234, headers: expect.arrayContaining(['X-Signature']) as unknown },
      { url: B, timeoutMs: DELIVERY_DEFAULTS.timeoutMs },
    ]);
  });

  it('reports all problems of its sources at once', () => {
    const sources = {
      web: {
        writekey: 'k',
        destinations: {
          Webhooks: {
            webhooks: ['ftp://a.example', { url: A, headers: { Host: 'x' } }, 5],
            sharedSecret: '',
            delivery: { timeoutMs: 0, concurrency: 9_999, timeout: '5s' },
          },
          All: { webhooks: [A] },
          None: null,
        },
      },
      app: 5,
    };
    const at = 'sources.web.destinations.Webhooks';
    const { message, key } = rejection(delivering({ webhooks: undefined, sources }));
    expect(key).toBe('sources');
    expect(message.split(/; (?=\(\d+\) )|: (?=\(1\) )/)).toEqual([
      'Expected `sources` that can be used, got 11 problems',
      '(1) Expected an option of `sources.web`, got `writekey` (did you mean `writeKey`?)',
      `(2) ${at}.sharedSecret: Expected a shared secret, got an empty one (give its text, or remove it to send without a signature)`,
      `(3) ${at}.webhooks[0].url: Expected an http:// or https:// URL, got \`ftp://a.example\` (did you mean https://a.example?)`,
      `(4) ${at}.webhooks[1].headers.Host: Header \`Host\` cannot be set: it follows from the URL (remove \`Host\`)`,
      `(5) Expected \`${at}.webhooks[2]\` to be a URL or { url, headers }, got a number (pass a URL as a string: 'https://host/path', or the \`href\` of a URL object)`,
      `(6) Expected an option of \`${at}.delivery\`, got \`timeout\` (did you mean \`timeoutMs\`?)`,
      `(7) Expected \`${at}.delivery.timeoutMs\` to be from 1 to 30000, got 0 (leave it out to get its default)`,
      `(8) Expected \`${at}.delivery.concurrency\` to be from 1 to 1024, got 9999 (leave it out to get its default)`,
      expect.stringContaining('(9) Expected another name for the destination'),
      '(10) Expected `sources.web.destinations.None` to be an object, got null (the options are enabled, webhooks, sharedSecret, sharedSecrets, scheme, delivery)',
      '(11) Expected `sources.app` to be an object, got a number (the options are writeKey, destinations)',
    ]);
  });

  it('reports all problems of its other options at once', () => {
    const { message, key } = rejection(
      delivering({
        webhooks: ['ftp://a.example', 'http://'],
        sharedSecret: '',
        delivery: { timeoutMs: 0, concurrency: 0 },
        client: { flushAt: 0, whenFull: 'drop' },
        onEvent: 1,
        retries: 2,
      }),
    );
    expect(key).toBe('options');
    const problems = message.split(/; (?=\(\d+\) )|: (?=\(1\) )/);
    expect(problems).toEqual([
      'Expected `options` that can be used, got 9 problems',
      expect.stringContaining('(1) Expected an option, got `retries`'),
      expect.stringContaining('(2) Expected `onEvent` to be a function'),
      expect.stringContaining('(3) Expected `client.flushAt` to be from 1 to 1000, got 0'),
      expect.stringContaining('(4) Expected `client.whenFull` to be wait or throw'),
      expect.stringMatching(/^\(5\) .*delivery.timeoutMs/),
      expect.stringMatching(/^\(6\) .*delivery.concurrency/),
      expect.stringMatching(/^\(7\) .*Expected a shared secret, got an empty one/),
      expect.stringMatching(/^\(8\) .*webhooks\[0\].*ftp/),
      expect.stringMatching(/^\(9\) .*webhooks\[1\]/),
    ]);
    const create = createTrackingApiPipeline as (options: unknown) => unknown;
    const several = rejection(() => create({ endpoint: 1, writeKey: 'k', client: { size: 0 }, tries: 1 }));
    expect(several.message).toMatch(/got 3 problems: .*`tries`.*`endpoint`.*`client.size`/);
    const ofSink = { endpoint: 'ftp://a/', writeKey: 'a b', timeoutMs: 0, retryForMs: -1, maxInFlight: 0 };
    expect(rejection(() => create({ ...ofSink, client: { size: 0 } })).message).toMatch(
      /got 6 problems: .*`endpoint`.*`writeKey`.*`timeoutMs`.*`retryForMs`.*`maxInFlight`.*`client.size`/,
    );
  });

  it('suggests a list for a single webhook', () => {
    const alone = delivering({ webhooks: A });
    expectRejection(alone, 'to be a list of URLs, got a string', 'put the URL into a list');
    const sources = { web: { destinations: { Webhooks: { webhooks: A } } } };
    const inSource = delivering({ webhooks: undefined, sources });
    expectRejection(inSource, 'to be a list, got a string', 'into a list');
  });

  it.each([null, undefined, 'track', [], {}, { message: null }])(
    'rejects %j as a built message',
    async (built) => {
      const pipeline = createDeliveryPipeline({ webhooks: [A], transport });
      const refused = {
        code: 'ERR_HOOKS_VALIDATION',
        message: expect.stringMatching(/^Expected .* to be an object, got/),
      };
      for (const call of [
        () => pipeline.client.enqueue(built as never),
        () => pipeline.client.enqueueThen(built as never, () => {}),
        () => pipeline.deliver(built as never),
      ]) {
        expect(call).toThrow(expect.objectContaining(refused));
      }
      await pipeline.close();
    },
  );

  it('requires options', () => {
    const create = createDeliveryPipeline as (options?: unknown) => unknown;
    expectRejection(() => create(), 'Expected options, got nothing', 'the options are webhooks');
    expectRejection(() => create([A]), 'Expected options, got a list', 'the options are webhooks');
    const sources = { web: { destination: {} } };
    expectRejection(() => create({ sources }), '`sources.web`, got `destination`', '`destinations`');
  });

  it('requires the name of one of its sources if there are several', async () => {
    const destinations = { Webhooks: { webhooks: [A] } };
    const create = createDeliveryPipeline as (options?: unknown) => { close: () => Promise<void> };
    const two = { web: { destinations }, app: { destinations } };
    const hint = "name the source of the client's messages";
    expectRejection(() => create({ sources: two, transport }), 'to be one of web, app, got none', hint);
    expectRejection(() => create({ sources: two, source: 'nope', transport }), 'web, app, got "nope"', hint);
    await create({ sources: { web: { destinations } }, transport }).close();
    await create({ sources: two, source: 'app', transport }).close();
  });

  it('treats undefined options as absent', async () => {
    const webhooks = [{ url: A, headers: undefined }];
    await createDeliveryPipeline({ webhooks, sharedSecret: undefined, client: undefined, transport }).close();
    await Reflect.apply(createDeliveryPipeline, undefined, [
      { webhooks, sources: undefined, transport },
    ]).close();
  });
});

describe('a pipeline to a tracking API', () => {
  it.each<Mistake>([
    [{ flushAt: 1 }, 'got `flushAt`', 'did you mean `client.flushAt`?'],
    [{ flushAt: 1, size: 2 }, '(2) Expected an option, got `size`', 'correct each'],
    [{ timeout: 3 }, 'got `timeout`', 'did you mean `timeoutMs`?'],
    [{ writekey: 'k' }, 'got `writekey`', 'did you mean `writeKey`?'],
    [{ endpoint: undefined }, 'Expected `endpoint` to be a string, got nothing', 'cannot be left out'],
    [{ endpoint: undefined, writeKey: undefined }, '(2) Expected `writeKey` to be', 'correct each'],
    [{ endpoint: new URL(A) }, 'Expected `endpoint` to be a string, got an object', '`href`'],
    [{ retryForMs: -1 }, 'Expected `retryForMs` to be from 0 to 2147483647, got -1', 'leave it out'],
  ])('rejects the options %j', (options, sentence, hint) => {
    const given = { endpoint: A, writeKey: 'k', transport, ...options };
    expectRejection(() => createTrackingApiPipeline(given), sentence, hint);
  });
});
