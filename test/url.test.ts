import { assert, pre, property, string, webUrl } from 'fast-check';
import { describe, expect, it } from 'vitest';
import { encodedUrl, requestTarget } from '../src/url.ts';

describe('the request target of a URL', () => {
  it.each([
    ['http://a.example', '/'],
    ['http://a.example/', '/'],
    ['http://a.example?x=1', '/?x=1'],
    ['http://a.example/a/../b', '/a/../b'],
    ['http://a.example/./a/..', '/./a/..'],
    ['http://a.example/%2e%2E/a%2fb', '/%2e%2E/a%2fb'],
    ['http://a.example//a//b/', '//a//b/'],
    ['http://user:p@a.example:80/@x:y', '/@x:y'],
    ["http://a.example/-._~!$&'()*+,;=:@?a=/?&b", "/-._~!$&'()*+,;=:@?a=/?&b"],
    ['http:\\\\a.example\\a\\b', '/a%5Cb'],
    ['https:a.example/x', '/x'],
    ['http://[::1]:80/x', '/x'],
    ['http://a.example/a b', '/a%20b'],
    ['http://a.example/"<>^`{|}', '/%22%3C%3E%5E%60%7B%7C%7D'],
    ['http://a.example/?a[]=1', '/?a%5B%5D=1'],
    ['http://a.example/é/東京/😀', '/%C3%A9/%E6%9D%B1%E4%BA%AC/%F0%9F%98%80'],
    ['http://a.example/\ud800', '/%EF%BF%BD'],
    ['http://a.example/100%?a=%zz&b=%2', '/100%25?a=%25zz&b=%252'],
    ['http://a.example/a\r\nb\tc', '/a%0D%0Ab%09c'],
    [' http://a.example/a \n', '/a'],
  ])('%j is %s', (url, target) => {
    expect(requestTarget(url)).toBe(target);
  });

  it('is valid in a request line, and does not change when it is computed again', () => {
    assert(
      property(string({ unit: 'binary-ascii' }), (path) => {
        const target = requestTarget(`http://a.example/${path.replaceAll('#', '')}`);
        expect(target).toMatch(/^\/[!$&-;=?-Z_a-z~%]*$/);
        expect(requestTarget(`http://a.example${target}`)).toBe(target);
      }),
    );
  });

  it('equals that of a URL object if there is nothing to resolve or encode', () => {
    assert(
      property(webUrl({ withQueryParameters: true }), (url) => {
        const { pathname, search } = new URL(url);
        pre(!/\/(?:\.|%2e){1,2}(?:[/?]|$)/i.test(url) && !url.endsWith('?') && !url.includes("'"));
        expect(requestTarget(url)).toBe(pathname + search);
      }),
    );
  });
});

describe('encodedUrl', () => {
  it.each([
    ['HTTP://A.example', 'HTTP://A.example'],
    ['http://a.example/a/../b?x', 'http://a.example/a/../b?x'],
    ['http://a.example?x', 'http://a.example/?x'],
    ['http://a.example/é', 'http://a.example/%C3%A9'],
  ])('of %s is %s', (url, encoded) => {
    expect(encodedUrl(url)).toBe(encoded);
  });
});
