import { describe, expect, it } from 'vitest';
import { ConfigError } from '../../../src/errors.ts';
import { basicUser, WriteKeys } from '../../../src/service/request/authentication.ts';
import { basic, closeAfterEach, serving, track, WRITE_KEY } from '../serving.ts';

closeAfterEach();

function encode(text: string): string {
  return `Basic ${Buffer.from(text).toString('base64')}`;
}

describe('WriteKeys', () => {
  const keys = new WriteKeys({ web: { writeKey: 'k1' }, app: { writeKey: 'k2' }, mute: {} });

  it('finds the source of a key', () => {
    expect([keys.sourceOf('k1'), keys.sourceOf('k2')]).toEqual(['web', 'app']);
  });

  it('finds no source for other keys of any length', () => {
    for (const key of ['', 'k', 'k1 ', 'K1', 'k11', 'x'.repeat(100_000)]) {
      expect(keys.sourceOf(key)).toBeUndefined();
    }
  });

  it('rejects sources without keys and two sources with the same key, without showing it', () => {
    expect(() => new WriteKeys({ web: {} })).toThrow(ConfigError);
    expect(() => new WriteKeys({ web: { writeKey: 'canary' }, app: { writeKey: 'canary' } })).toThrow(
      /^The sources `web` and `app` have the same write key$/,
    );
  });
});

describe('basicUser', () => {
  it('reads the user with and without a password', () => {
    expect(basicUser(encode('key:'))).toBe('key');
    expect(basicUser(encode('key:password:with:colons'))).toBe('key');
    expect(basicUser(encode('key'))).toBe('key');
    expect(basicUser(encode('key:').replace('Basic', 'bAsIc'))).toBe('key');
  });

  it('ignores other schemes', () => {
    expect(basicUser(undefined)).toBeUndefined();
    expect(basicUser('Bearer abc')).toBeUndefined();
    expect(basicUser('Basic')).toBeUndefined();
  });
});

describe('the service', () => {
  it('accepts the write key in Basic auth or in the body; the header takes precedence', async () => {
    const serve = await serving();
    const statuses = [
      await serve.post('/v1/track', track('u1')),
      await serve.post('/v1/track', track('u2', { writeKey: WRITE_KEY }), {}),
      await serve.post('/v1/batch', { batch: [track('u3')], writeKey: WRITE_KEY }, {}),
      await serve.post(
        '/v1/batch',
        { batch: [track('u4')], writeKey: WRITE_KEY },
        { authorization: 'Bearer t' },
      ),
      await serve.post('/v1/batch', { batch: [track('u5')], writeKey: WRITE_KEY }, basic('wrong')),
      await serve.post('/v1/batch', { batch: [track('u6')], writeKey: 'wrong' }, {}),
      await serve.post('/v1/batch', { batch: [track('u7')] }, {}),
      await serve.post('/v1/batch', { batch: [track('u8')], writeKey: 5 }, {}),
    ].map(({ status }) => status);
    expect(statuses).toEqual([200, 200, 200, 200, 401, 401, 401, 401]);
    expect(serve.added).toHaveLength(4);
  });

  it('removes the write key from the message', async () => {
    const serve = await serving();
    await serve.post('/v1/track', track('u1', { writeKey: WRITE_KEY }), {});
    expect(Buffer.from(serve.added[0]?.body ?? []).toString()).not.toContain(WRITE_KEY);
  });
});
