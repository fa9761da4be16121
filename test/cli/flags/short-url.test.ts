import { describe, expect, it } from 'vitest';
import { collectUrl, expandUrl } from '../../../src/cli/flags/short-url.ts';

describe('expandUrl', () => {
  it.each([
    ['3000', 'http://localhost:3000'],
    [':3000/path?a=b', 'http://localhost:3000/path?a=b'],
    ['3000/hook', 'http://localhost:3000/hook'],
    ['localhost:3000/hook', 'http://localhost:3000/hook'],
    ['LOCALHOST:3000', 'http://LOCALHOST:3000'],
    ['app.localhost/hook', 'http://app.localhost/hook'],
    ['127.0.0.1:8787', 'http://127.0.0.1:8787'],
    ['[::1]:8787/a', 'http://[::1]:8787/a'],
    [' 3000 ', 'http://localhost:3000'],
  ])('reads %s as %s', (text, url) => {
    expect(expandUrl(text)).toBe(url);
  });

  it.each([
    'https://a.example/hook',
    'http://localhost:3000',
    'a.example:3000/hook',
    'localhost.a.example:3000',
    '10.0.0.1:3000',
    'user:secret@localhost:3000',
    '123456',
    '',
    'localhost:3000#part',
  ])('returns %s unchanged', (text) => {
    expect(expandUrl(text)).toBe(text);
  });
});

describe('collectUrl', () => {
  it.each([
    ['http://a.example/1,http://b.example', ['http://a.example/1', 'http://b.example']],
    ['3000, HTTPS://b.example', ['http://localhost:3000', 'HTTPS://b.example']],
    ['http://a.example/x,y?ids=1,2', ['http://a.example/x,y?ids=1,2']],
    ['http://a.example/x,', ['http://a.example/x,']],
  ])('splits %s at a comma before http:// or https:// only', (text, urls) => {
    expect(collectUrl(text, ['http://first.example'])).toEqual(['http://first.example', ...urls]);
  });
});
