import { describe, expect, it } from 'vitest';
import { failureOf, settingsWith } from '../settings-with.ts';

/** The error of this project config. */
const broken = async (text: string) =>
  (await failureOf(() => settingsWith({ files: { '.hooksrc.yaml': text } }))).message;

describe('values', () => {
  it.each([
    ['delivery: { timeout: -1 }', 'Expected `delivery.timeout` to be from 1ms to 30s, got -1'],
    ['delivery: { timeout: 0 }', 'Expected `delivery.timeout` to be from 1ms to 30s, got 0'],
    ['delivery: { timeout: 31s }', 'Expected `delivery.timeout` to be from 1ms to 30s, got 31s'],
    ['delivery: { timeout: 5000 }', 'Expected `delivery.timeout` to have a unit, got 5000'],
    ['delivery: { timeout: [] }', 'Expected `delivery.timeout` to be a duration, got a list'],
    ['delivery: { concurrency: 1025 }', 'Expected `delivery.concurrency` to be from 1 to 1024, got 1025'],
    ['delivery: { concurrency: 1.5 }', 'Expected `delivery.concurrency` to be a whole number, got 1.5'],
    ['delivery: { strategy: both }', 'Expected `delivery.strategy` to be fallback or broadcast, got both'],
    [
      'delivery: { health: { failures: 0 } }',
      'Expected `delivery.health.failures` to be from 1 to 1000000, got 0',
    ],
    ['client: { flushAt: 0 }', 'Expected `client.flushAt` to be from 1 to 1000, got 0'],
    ['webhooks: http://a', 'Expected `webhooks` to be a list, got a string'],
    ['webhooks: [a, b]', 'Expected `webhooks[0]` to be a URL, got a'],
    ['webhooks: [http://a, "ftp://b"]', 'Expected `webhooks[1]` to be a URL with http or https, got ftp://b'],
    ['webhooks: ["http://a/#b"]', 'Expected `webhooks[0]` to be a URL without a fragment, got http://a/#b'],
    ['webhooks: [http://a, b, c, d, e, f]', 'Expected `webhooks` to have at most 5 webhooks, got 6'],
    ['webhooks: [{ headers: {} }]', 'Expected `webhooks[0].url` to be a URL, got nothing'],
    ['webhooks: [{ url: http://a, header: {} }]', 'Unknown setting `webhooks[0].header`'],
    [
      'webhooks: [{ url: http://a, headers: { X: 1 } }]',
      'Expected `webhooks[0].headers.X` to be a string, got a number',
    ],
    [
      'webhooks: [{ url: http://a, headers: { X: "a\\r\\nb" } }]',
      '`webhooks[0].headers.X` holds a line break',
    ],
    ['sharedSecret: ""', '`sharedSecret` is an empty secret'],
    ['sharedSecret: [a, ""]', '`sharedSecret[1]` is an empty secret'],
    ['sharedSecret: []', 'Expected `sharedSecret` to have a secret, got an empty list'],
    ['sharedSecret: 12345', 'Expected `sharedSecret` to be a string, got a number'],
    ['writeKey: ""', '`writeKey` is an empty write key'],
    ['writeKey: a:b', '`writeKey` has a colon, at which the user name of Basic authentication ends'],
    ['endpoint: nowhere', 'Expected `endpoint` to be a URL, got nowhere'],
    [
      'sources: { web: { destinations: { A: { enabled: 1 } } } }',
      'Expected `sources.web.destinations.A.enabled` to be true or false, got 1',
    ],
  ])('rejects %j', async (text, message) => {
    expect(await broken(text)).toBe(`${message} (from .hooksrc.yaml)`);
  });

  it('names the variable in an error', async () => {
    const settings = await settingsWith({ env: { HOOKS_URL: 'http://a nowhere' } });
    expect(() => settings.sources).toThrow(/^Expected `HOOKS_URL` to be a URL, got nowhere$/);
  });

  it.each([
    'webhooks: ["https://user:canary@host#x"]',
    'webhooks: ["ftp://user:canary@host"]',
    'webhooks: ["//user:canary@host"]',
    'webhooks: [{ url: http://a, headers: { Authorization: [canary] } }]',
    'sharedSecret: [canary, 5]',
    'sharedSecret: { canary: 1 }',
    'sharedSecret: canary${',
    'writeKey: [canary]',
    'endpoint: "ftp://canary@x"',
  ])('does not show the secret in %j', async (text) => {
    const failure = await failureOf(() => settingsWith({ files: { '.hooksrc.yaml': text } }));
    expect(`${failure.message} ${failure.hint}`).not.toContain('canary');
  });
});
