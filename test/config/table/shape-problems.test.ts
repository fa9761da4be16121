import { Ajv } from 'ajv';
import { describe, expect, it } from 'vitest';
import { shapeProblems } from '../../../src/config/table/shape-problems.ts';
import { configSchema } from '../../../src/schemas.ts';

const SHORT = {
  $schema: './node_modules/hooks-cli/dist/schemas/config.json',
  writeKey: '${WRITE_KEY}',
  endpoint: 'https://host/v1/batch',
  sharedSecret: ['a', 'b'],
  webhooks: [
    'https://a.example/hook',
    { url: 'https://b.example/hook', headers: { 'X-Env': 'staging' } },
    '${URL}',
  ],
  delivery: {
    strategy: 'fallback',
    timeout: '5s',
    retryFor: 0,
    concurrency: 32,
    ca: './ca.pem',
    health: { failures: 10 },
  },
  client: { flushAt: 20, flushAfter: '${AFTER}', maxQueued: 10000, whenFull: 'wait' },
  store: 'sqlite:./hooks.db',
  retention: { delivered: '24h', dead: '1h30m' },
};

const LONG = {
  sources: {
    web: {
      writeKey: 'k',
      destinations: {
        Webhooks: { enabled: true, sharedSecret: 's', webhooks: ['http://a.example'], delivery: {} },
      },
    },
    app: {},
  },
  client: { flushAt: '${N}' },
};

const WRONG: readonly (readonly [string, unknown, string, string?])[] = [
  ['an unknown key', { webhook: [] }, 'Unknown setting `webhook` (from f)', 'did you mean `webhooks`?'],
  [
    'an unknown key inside',
    { delivery: { timout: '5s' } },
    'Unknown setting `delivery.timout` (from f)',
    'did you mean `delivery.timeout`?',
  ],
  [
    'an unknown key of a destination',
    { sources: { web: { destinations: { Hook: { delivry: {} } } } } },
    'Unknown setting `sources.web.destinations.Hook.delivry` (from f)',
    'did you mean `sources.web.destinations.Hook.delivery`?',
  ],
  [
    'a key of the short form in a source',
    { sources: { web: { webhooks: [] } } },
    'Unknown setting `sources.web.webhooks` (from f)',
    'move it to `sources.web.destinations.NAME.webhooks`',
  ],
  [
    'a key of a group at the top',
    { strategy: 'all' },
    'Unknown setting `strategy` (from f)',
    'move it to `delivery.strategy`',
  ],
  [
    'a mistyped key of a group at the top',
    { stratgy: 'all' },
    'Unknown setting `stratgy` (from f)',
    'did you mean `delivery.strategy`?',
  ],
  [
    'a key of another tool, at the top',
    { retries: 3 },
    'Unknown setting `retries` (from f)',
    'did you mean `delivery.retryFor`?',
  ],
  [
    'a key of a group beside',
    { delivery: { health: { flushAt: 3 } } },
    'Unknown setting `delivery.health.flushAt` (from f)',
    'move it to `client.flushAt`',
  ],
  [
    'a key of a group in a destination',
    { sources: { web: { destinations: { Hook: { timeout: '5s' } } } } },
    'Unknown setting `sources.web.destinations.Hook.timeout` (from f)',
    'move it to `sources.web.destinations.Hook.delivery.timeout`',
  ],
  [
    'a key that resembles none',
    { client: { zzzzzz: 3 } },
    'Unknown setting `client.zzzzzz` (from f)',
    'there are: flushAt, flushAfter, maxQueued, whenFull',
  ],
  ['a list for an object', { client: [] }, 'Expected `client` to be an object, got a list (from f)'],
  [
    'a text for a source',
    { sources: { web: 'x' } },
    'Expected `sources.web` to be an object, got a string (from f)',
  ],
  [
    'both forms',
    { sources: {}, sharedSecret: 'x' },
    '`sharedSecret` and `sources` cannot be in the same file (from f)',
    'move `sharedSecret` into a destination of a source (the long form), or leave `sources` out (the short form)',
  ],
  ['a list', [], 'Expected f to hold an object, got a list'],
  ['nothing', null, 'Expected f to hold an object, got null'],
];

describe('shapeProblems', () => {
  it('finds no problem in a valid file of either form', () => {
    expect([SHORT, LONG, {}].flatMap((content) => shapeProblems(content, 'f'))).toEqual([]);
  });

  it('finds all problems', () => {
    const faults = shapeProblems({ webhook: [], delivery: { timout: 1 }, client: [] }, 'f');
    expect(faults.map(({ key }) => key)).toEqual(['webhook', 'delivery.timout', 'client']);
  });

  it.each(WRONG)('finds %s', (_, content, message, hint) => {
    const [failure] = shapeProblems(content, 'f');
    expect(failure?.message).toBe(message);
    if (hint !== undefined) expect(failure?.hint).toBe(hint);
  });
});

describe('configSchema', () => {
  const validate = new Ajv({ strict: false }).compile(configSchema);

  it('is draft-07', () => {
    expect(configSchema).toMatchObject({ $schema: 'http://json-schema.org/draft-07/schema#' });
  });

  it('accepts both forms', () => {
    expect([validate(SHORT), validate.errors]).toEqual([true, null]);
    expect([validate(LONG), validate.errors]).toEqual([true, null]);
  });

  it.each(WRONG)('rejects %s', (_, content) => {
    expect(validate(content)).toBe(false);
  });

  it.each([
    { delivery: { timeout: 5000 } },
    { delivery: { timeout: 'soon' } },
    { delivery: { strategy: 'both' } },
    { delivery: { concurrency: 0 } },
    { webhooks: ['a', 'b', 'c', 'd', 'e', 'f'].map((path) => `http://x/${path}`) },
    { webhooks: ['ftp://x'] },
    { webhooks: [{ headers: {} }] },
    { webhooks: [{ url: 'http://x', headers: { a: 1 } }] },
    { sharedSecret: '' },
    { sharedSecret: [] },
  ])('rejects the value of %j', (content) => {
    expect(validate(content)).toBe(false);
  });
});
