import { describe, expect, it } from 'vitest';
import { proxyFor } from '../../../src/transport/route/proxy.ts';

const PROXY = 'http://proxy.test:3128';

describe('proxyFor', () => {
  it.each([
    ['http://a.test/', { HTTP_PROXY: PROXY }],
    ['http://a.test/', { http_proxy: PROXY, HTTP_PROXY: 'http://other.test' }],
    ['http://a.test/', { http_proxy: 'proxy.test:3128' }],
    ['https://a.test/', { HTTPS_PROXY: PROXY, HTTP_PROXY: 'http://other.test' }],
    ['https://a.test/', { HTTPS_PROXY: PROXY, NO_PROXY: 'b.test,sub.a.test' }],
    ['https://a.test:8443/', { HTTPS_PROXY: PROXY, NO_PROXY: 'a.test:443' }],
    ['https://ba.test/', { HTTPS_PROXY: PROXY, NO_PROXY: 'a.test' }],
    ['http://11.0.0.5/', { HTTP_PROXY: PROXY, NO_PROXY: '10.0.0.0/8,10.0.0.0/33,::/0' }],
  ])('sends %s through the proxy of %o', (url, env) => {
    expect(proxyFor(new URL(url), env)?.origin.host).toBe('proxy.test:3128');
  });

  it.each([
    ['http://a.test/', {}],
    ['http://a.test/', { HTTP_PROXY: '' }],
    ['https://a.test/', { HTTP_PROXY: PROXY }],
    ['https://a.test/', { HTTPS_PROXY: PROXY, NO_PROXY: '*' }],
    ['https://a.test/', { HTTPS_PROXY: PROXY, no_proxy: 'b.test, a.test' }],
    ['https://deep.A.test/', { HTTPS_PROXY: PROXY, NO_PROXY: '.a.test' }],
    ['https://deep.a.test/', { HTTPS_PROXY: PROXY, NO_PROXY: '*.a.test' }],
    ['https://a.test/', { HTTPS_PROXY: PROXY, NO_PROXY: 'a.test:443' }],
    ['https://[2001:db8::1]/', { HTTPS_PROXY: PROXY, NO_PROXY: '2001:db8::1' }],
    ['http://10.20.0.5:3000/', { HTTP_PROXY: PROXY, NO_PROXY: 'a.test,10.0.0.0/8' }],
    ['http://[fd00::5]/', { HTTP_PROXY: PROXY, NO_PROXY: 'fd00::/8' }],
    ['https://[2001:db8::1]:8443/', { HTTPS_PROXY: PROXY, NO_PROXY: '[2001:db8::1]:8443' }],
    ['http://localhost:8787/', { HTTP_PROXY: PROXY }],
    ['http://hooks.localhost/', { HTTP_PROXY: PROXY }],
    ['http://localhost.:8787/', { HTTP_PROXY: PROXY }],
    ['https://deep.a.test./', { HTTPS_PROXY: PROXY, NO_PROXY: 'a.test' }],
    ['http://127.1.2.3/', { HTTP_PROXY: PROXY }],
    ['http://[::1]:8787/', { HTTP_PROXY: PROXY }],
  ])('sends %s directly, given %o', (url, env) => {
    expect(proxyFor(new URL(url), env)).toBeUndefined();
  });

  it('separates userinfo, so that the origin can be shown', () => {
    const proxy = proxyFor(new URL('http://a.test'), { http_proxy: 'http://us%40er:p%20w@proxy.test:3128' });
    expect(proxy?.origin.href).toBe('http://proxy.test:3128/');
    expect(proxy?.authorization).toBe(`Basic ${Buffer.from('us@er:p w').toString('base64')}`);
  });

  it.each([
    'socks5://me:secret@proxy.test',
    'http://me:a/secret@proxy.test',
    'http://me:12/secret@proxy.test',
    'http://me:12#secret@proxy.test',
    'http://me:secret@',
    'http://me:secret%zz@proxy.test',
  ])('rejects %s without showing its password', (value) => {
    expect(() => proxyFor(new URL('https://a.test'), { HTTPS_PROXY: value })).toThrow(
      expect.objectContaining({
        name: 'ConfigError',
        key: 'HTTPS_PROXY',
        message: expect.not.stringContaining('secret'),
      }),
    );
  });
});
