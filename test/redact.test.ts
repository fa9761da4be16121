import * as fc from 'fast-check';
import { describe, expect, it } from 'vitest';
import {
  isSecretHeader,
  printable,
  redactUrl,
  shownWriteKey,
  withoutRepeated,
  withoutWriteKeys,
} from '../src/redact.ts';

describe('the response of a receiver', () => {
  it.each([
    ['as it is', 'you sent s3cr/t!', 'you sent ***'],
    ['URL-encoded', 'you sent s3cr%2Ft!', 'you sent ***'],
    ['in base64', `you sent ${Buffer.from('s3cr/t!').toString('base64')}`, 'you sent ***=='],
    ['cut short', 'you sent s3cr/', 'you sent ***'],
    ['cut to so little that it may be anything', 'you sent s3c', 'you sent s3c'],
    ['not at all', 'you sent nothing', 'you sent nothing'],
  ])('is shown without a secret that it contains %s', (_, reply, shown) => {
    expect(withoutRepeated(reply, ['s3cr/t!'])).toBe(shown);
  });

  it.each([
    ['JSON', String.raw`{"got":"ab\"cd\\<é/'&"}`],
    ['JSON of Python', String.raw`{"got":"ab\"cd\\<\u00e9/'&"}`],
    ['JSON of Go', String.raw`{"got":"ab\"cd\\\u003cé/'\u0026"}`],
    ['JSON of PHP', String.raw`{"got":"ab\"cd\\<\u00e9\/'&"}`],
    ['HTML', String.raw`<p>ab&quot;cd\&lt;é/&#39;&amp;</p>`],
    ['HTML of Python', String.raw`<p>ab&quot;cd\&lt;é/&#x27;&amp;</p>`],
    ['HTML of Go', String.raw`<p>ab&#34;cd\&lt;é/&#39;&amp;</p>`],
    ['JSON in HTML', String.raw`<p>ab\&quot;cd\\&lt;é/&#39;&amp;</p>`],
  ])('is shown without a secret that is escaped as in %s', (_, reply) => {
    const shown = withoutRepeated(reply, [String.raw`ab"cd\<é/'&`]);
    expect(['{"got":"***"}', '<p>***</p>']).toContain(shown);
  });

  it.each(['', 'x', 'xy', 'Authorization: Bearer '])(
    'is without a secret in the base64 of a longer text that begins %j',
    (before) => {
      const secret = 's3cr?t/>>>of~many~bytes';
      for (const after of ['', 'a', 'ab', '\r\nHost: a.test']) {
        for (const encoding of ['base64', 'base64url'] as const) {
          const shown = withoutRepeated(Buffer.from(before + secret + after).toString(encoding), [secret]);
          const parts = shown.split('***');
          const [start = '', end = ''] = parts;
          expect(parts).toHaveLength(2);
          // At most one character at each end has bits of both the secret and the text beside it.
          expect(start.length + end.length).toBeLessThanOrEqual(
            Math.ceil(((before + after).length * 8) / 6) + 5,
          );
          expect(Buffer.from(start, 'base64').toString()).not.toContain('s3');
        }
      }
    },
  );

  it('stays readable if the secret is as short as a syllable', () => {
    expect(withoutRepeated('the address is wrong', ['s', 'add', 'wrong'])).toBe('the address is ***');
  });
});

describe('redactUrl', () => {
  it.each([
    ['http://me:hidden@a.test/hook', 'http://***@a.test/hook'],
    ['https://hidden@a.test', 'https://***@a.test'],
    ['redis://:hidden@a.test:6379/0', 'redis://***@a.test:6379/0'],
    ['http://me:hid@den@a.test/', 'http://***@a.test/'],
    ['http://me:hid den@a.test/', 'http://***@a.test/'],
    ['http://me:hid\tden@a.test/', 'http://***@a.test/'],
    ['ht\ntp://me:hidden@a.test/', 'ht\ntp://***@a.test/'],
    [' \u0001http://me:hidden@a.test/', ' \u0001http://***@a.test/'],
    ['http:me:hidden@a.test/', 'http:***@a.test/'],
    ['http:/me:hidden@a.test/', 'http:/***@a.test/'],
    ['http:\\\\me:hidden@a.test/', 'http:\\\\***@a.test/'],
    ['http:///me:hidden@a.test/', 'http:///***@a.test/'],
    ['//me:hidden@a.test/', '//***@a.test/'],
    ['me:hidden@a.test/hook', 'me:***@a.test/hook'],
    ['us_er:hidden@a.test', 'us_er:***@a.test'],
  ])('removes the userinfo of %j that the URL parser finds', (url, shown) => {
    expect(redactUrl(url)).toBe(shown);
  });

  it.each([
    'http://me:hid/den@a.test/',
    'http://me:hid?den@a.test/',
    'http://me:hid#den@a.test/',
    'http://me:12#hidden@a.test/',
    'http://me:hid\\den@a.test:port/',
    '//me:hid/den@a.test/',
  ])('removes everything before the last @ of %j, because its authority is ambiguous', (url) => {
    expect(redactUrl(url)).toMatch(/^(http:)?\/\/\*\*\*@a\.test(:port)?\/$/);
  });

  it.each([
    ['redis://:p@ss/w:rd@a.test:6379/0', 'redis://***@a.test:6379/0'],
    ['postgres://me:p@ss/w:rd@a.test/db', 'postgres://***@a.test/db'],
    ['REDISS://me:12/hid@den@a.test', 'REDISS://***@a.test'],
    ['redis://me:12?hidden@a.test', 'redis://***@a.test'],
    ['redis://a.test:6379/0', 'redis://a.test:6379/0'],
    ['http://me:hidden@a.test/@me', 'http://***@a.test/@me'],
    ['http://me:hidden@a.test/@me?to=me@b.test', 'http://***@a.test/@me?to=me@b.test'],
    ['http://u:p@ss/w:rd@a.test/hook', 'http://***@a.test/hook'],
    ['https://u:p@ss?w:rd@a.test', 'https://***@a.test'],
    ['HTTP://:p@ss/w/@rd@a.test/', 'HTTP://***@a.test/'],
  ])('removes the password of %j, escaped or not', (url, shown) => {
    expect(redactUrl(url)).toBe(shown);
  });

  it.each([
    ['https://a.test/hook?token=hidden', 'https://a.test/hook?token=***'],
    ['https://a.test/?a=1&access_token=hid=den&b=2', 'https://a.test/?a=1&access_token=***&b=2'],
    ['/hook?code=hidden', '/hook?code=***'],
    ['https://a.test/?apiKey=hidden&api_key=hidden', 'https://a.test/?apiKey=***&api_key=***'],
    [
      'https://a.test/?key=hidden&sig=hidden&signature=hidden',
      'https://a.test/?key=***&sig=***&signature=***',
    ],
    ['https://a.test/?writeKey=hid den;hidden', 'https://a.test/?writeKey=***'],
    [
      'https://a.test/?X-Amz-Signature=hidden#client_secret=hidden',
      'https://a.test/?X-Amz-Signature=***#client_secret=***',
    ],
    ['/to?url=http://me:hidden@b.test/', '/to?url=http://***@b.test/'],
  ])('removes secrets from the query of %j', (url, shown) => {
    expect(redactUrl(url)).toBe(shown);
  });

  it.each([
    'https://a.test/hook?user=u1&page=2',
    'https://a.test/@me?email=me@b.test',
    'http://localhost:3000/@me',
    'http://[::1]:8787/hook',
    '/hook?email=me@b.test',
    '/@me',
    'sqlite:./me@home.db',
    'sqlite:///data/me@home.db',
    './me@home.pem',
    'keyboard=1&keys=2',
    '',
  ])('does not change %j', (url) => {
    expect(redactUrl(url)).toBe(url);
  });

  it('never shows a text that the URL parser reads as a password', () => {
    const password = fc.string({ unit: 'binary-ascii', maxLength: 20 }).map((text) => `CAN${text}ARY`);
    const slashes = fc.constantFrom('//', '/', '', '\\\\', '///', '/\\');
    fc.assert(
      fc.property(
        fc.constantFrom('http:', 'HTTPS:', ' http:'),
        slashes,
        password,
        (scheme, between, secret) => {
          const url = `${scheme}${between}me:${secret}@a.test/hook`;
          fc.pre(!URL.canParse(url) || new URL(url).hostname === 'a.test');
          expect(redactUrl(url)).not.toMatch(/CAN|ARY/);
        },
      ),
      { numRuns: 5_000 },
    );
  });

  it.each(['a', '?', '#', '@', '://', 'a:', '//a', '?a=', '\n'])(
    'takes no longer than its length allows for many of %j',
    (piece) => {
      // Quadratic time would take minutes with this length.
      const masked = redactUrl(`http://a.test/${piece.repeat(1_000_000)}`);
      expect(masked.length).toBeGreaterThan(0);
    },
  );
});

describe('isSecretHeader', () => {
  it.each([
    'Authorization',
    'proxy-authorization',
    'X-Auth',
    'X-Auth-Key',
    'Cookie',
    'Set-Cookie',
    'X-Api-Key',
    'apikey',
    'X_API_KEY',
    'X-Functions-Key',
    'Ocp-Apim-Subscription-Key',
    'X-Write-Key',
    'X-Gitlab-Token',
    'Client-Secret',
    'X-Password',
    'X-Key',
    'Key',
    'X-Master-Key',
    'Api_Key',
  ])('is true for %s', (name) => {
    expect(isSecretHeader(name)).toBe(true);
  });

  it.each([
    'X-Signature',
    'Content-Type',
    'Host',
    'Idempotency-Key',
    'X-Idempotency-Key',
    'Partition-Key',
    'X-Author',
    'X-Env',
    'Cookie-Policy',
  ])('is false for %s', (name) => {
    expect(isSecretHeader(name)).toBe(false);
  });
});

describe('a write key', () => {
  it.each([
    ['', '…'],
    ['a', '…'],
    ['abcd', '…cd'],
    ['abcdefg', '…efg'],
    ['abcdefgh', '…efgh'],
    ['a-key-of-a-workspace', '…pace'],
  ])('is shown by its last characters only: %s', (key, shown) => {
    expect(shownWriteKey(key)).toBe(shown);
  });

  it.each([
    ['JSON', '{"writeKey" : "secret-1234","a":"b"}', '{"writeKey" : "…1234","a":"b"}'],
    ['JSON that is cut off', '{"writeKey":"secret-1234', '{"writeKey":"…1234'],
    ['JSON in a string', String.raw`"{\"writeKey\":\"secret-1234`, String.raw`"{\"writeKey\":\"…1234`],
    [
      'JSON with an escaped name',
      String.raw`{"write\u004bey":"secret-1234"}`,
      String.raw`{"write\u004bey":"…1234"}`,
    ],
    ['a key with a quote', String.raw`{"writeKey":"secret\"-1234"}`, '{"writeKey":"…1234"}'],
    ['a form', 'a=1&writeKey=secret-1234&b=2', 'a=1&writeKey=…1234&b=2'],
    ['a filter', 'type=track,writeKey!=secret-1234,a=b', 'type=track,writeKey!=…1234,a=b'],
    ['a filter of no key', 'writeKey!?,writeKey?', 'writeKey!?,writeKey?'],
  ])('is removed from the text of %s', (_what, text, shown) => {
    expect(withoutWriteKeys(text)).toBe(shown);
  });
});

describe('printable', () => {
  it('escapes controls of the cursor and of the reading direction', () => {
    expect(printable('a\u001b[2J\r\n\tb\u202ec\u0085')).toBe('a\\u001b[2J\\r\\n\\tb\\u202ec\\u0085');
  });

  it('escapes every control of the reading direction in Unicode', () => {
    const raw = BIDI_CONTROLS.filter((control) => printable(control) === control);
    expect([BIDI_CONTROLS.length > 11, raw]).toEqual([true, []]);
  });

  it('shortens a text that is too long', () => {
    expect(printable('abcdef', 3)).toBe('abc…');
    expect(printable('abc', 3)).toBe('abc');
  });
});

const BIDI_CONTROLS = Array.from({ length: 0x1_0000 }, (_, code) => String.fromCharCode(code)).filter(
  (character) => /\p{Bidi_Control}/u.test(character),
);
