import { describe, expect, it } from 'vitest';
import { batchUrl } from '../../src/client/tracking-api-options.ts';
import { TrackingApiSink } from '../../src/client/tracking-api-sink.ts';
import { ConfigError } from '../../src/errors.ts';
import { trackingApi } from './tracking-api.ts';

describe('the settings of the sink', () => {
  it.each([
    ['nowhere', 'Expected `endpoint` to be a URL, got nowhere'],
    ['ftp://a.example/', 'Expected `endpoint` to begin with http:// or https://, got ftp://a.example/'],
    [
      'https://me:pw@a.example/',
      'Expected `endpoint` without a user or password, got https://***@a.example/',
    ],
    ['https://a.example/#x', 'Expected `endpoint` without a fragment, got https://a.example/#x'],
  ])('reject the endpoint %s', async (endpoint, message) => {
    const { sinkOptions } = await trackingApi();
    expect(() => new TrackingApiSink(sinkOptions({ endpoint }))).toThrow(
      expect.objectContaining({ message, key: 'endpoint', code: 'ERR_HOOKS_CONFIG' }),
    );
  });

  it.each([
    ['http://A.example', 'http://a.example/v1/batch'],
    ['http://a.example/?x=1', 'http://a.example/v1/batch?x=1'],
    ['http://a.example/v2/../b', 'http://a.example/v2/../b'],
    ['http://a.example/é', 'http://a.example/%C3%A9'],
  ])('complete the endpoint %s to the URL %s', (endpoint, url) => {
    expect(batchUrl(endpoint)).toBe(url);
  });

  it.each(['', 'a:b', 'a b', 'a\n', 'é'])('reject the write key %j without showing it', async (writeKey) => {
    const { sinkOptions } = await trackingApi();
    const create = (): unknown => new TrackingApiSink(sinkOptions({ writeKey }));
    expect(create).toThrow(ConfigError);
    expect(create).toThrow(expect.objectContaining({ key: 'writeKey' }));
    if (writeKey !== '') expect(create).not.toThrow(writeKey);
  });
});
