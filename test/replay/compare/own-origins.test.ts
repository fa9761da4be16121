import { describe, expect, it } from 'vitest';
import { originMask } from '../../../src/replay/compare/own-origins.ts';

const OLD = 'https://shop.example/hook';
const NEW = 'http://me:t0ken@127.0.0.1:3000/hook';

function masked(text: string, urls: readonly string[] = [OLD, NEW]): string {
  return originMask(urls)({ headers: {}, body: text }).body;
}

describe('the mask of the origins of two receivers', () => {
  it.each([
    ['a link', 'http://127.0.0.1:3000/items/1', '{origin}/items/1'],
    ['a link of the other receiver', 'see https://shop.example.', 'see {origin}.'],
    ['a link in the JSON of PHP', String.raw`http:\/\/127.0.0.1:3000\/a`, String.raw`{origin}\/a`],
    ['a link in a query', '?to=https%3A%2F%2Fshop.example%2Fa', '?to={origin}%2Fa'],
    ['host and port', 'Host 127.0.0.1:3000, at shop.example', 'Host {host}, at {host}'],
  ])('replaces %s', (_, text, expected) => {
    expect(masked(text)).toBe(expected);
  });

  it.each([
    'http://127.0.0.1:30001/a',
    'https://shop.example:8443/a',
    'https://shop.example.org',
    'https://my.shop.example',
    'https://127.0.0.1/a',
  ])('keeps %s', (text) => {
    expect(masked(text)).toBe(text);
  });

  it('keeps another scheme, and a word that is a host name', () => {
    expect(masked('http://shop.example/a')).toBe('http://{host}/a');
    expect(masked('app http://app/a', ['http://app/hook'])).toBe('app {origin}/a');
  });

  it('removes digests of a body with a link to itself', () => {
    const headers = { etag: '"a"', location: 'https://shop.example/a', link: ['127.0.0.1:3000'] };
    const hidden = { location: '{origin}/a', link: ['{host}'] };
    expect(originMask([OLD, NEW])({ headers, body: 'https://shop.example' }).headers).toEqual(hidden);
    expect(originMask([OLD, NEW])({ headers, body: '' }).headers).toEqual({ etag: '"a"', ...hidden });
  });
});
