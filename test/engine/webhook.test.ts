import { describe, expect, it } from 'vitest';
import { prepareWebhooks, type Webhook } from '../../src/engine/webhook.ts';
import { ConfigError } from '../../src/errors.ts';

const CONTEXT = { userAgent: 'hooks-cli/1.2.3', setting: 'sources.web.destinations.Webhooks.webhooks' };

function prepare(url: string, headers: Record<string, string> = {}): Webhook {
  const [webhook] = prepareWebhooks([{ url, headers }], CONTEXT);
  if (webhook === undefined) throw new Error('no webhook');
  return webhook;
}

function errorOf(url: string, headers?: Record<string, string>): ConfigError {
  try {
    prepare(url, headers);
  } catch (error) {
    if (error instanceof ConfigError) return error;
    throw error;
  }
  throw new Error(`${url} was taken`);
}

/** Everything of an error that a person can see. */
function shown(error: ConfigError): string {
  return [error.message, error.hint, error.key].join('\n');
}

describe('the URL of a webhook', () => {
  it.each([
    ['http://a.example/hook'],
    ['https://a.example/hook?x=1&y=%20'],
    ['http://127.0.0.1:8787/'],
    ['http://[::1]:8787/'],
    ['HTTPS://A.example/@user/hook'],
  ])('may be %s, and is shown unchanged', (url) => {
    expect(prepare(url)).toMatchObject({ url: new URL(url).href, shownUrl: url, key: url });
  });

  it.each([
    ['http://a.example/a/../b', 'http://a.example/a/../b'],
    ['http://a.example/é?q=[1]', 'http://a.example/%C3%A9?q=%5B1%5D'],
    ['http://a.example?x=%', 'http://a.example/?x=%25'],
  ])('%s is requested, shown and stored as %s', (url, requested) => {
    expect(prepare(url)).toMatchObject({ url: requested, shownUrl: requested, key: requested });
    const withUser = prepare(url.replace('//', '//me:hunter2@'));
    expect(withUser).toMatchObject({ url: requested, shownUrl: requested.replace('//', '//***@') });
  });

  it('may have surrounding spaces', () => {
    expect(prepare(' http://a.example/ \n').shownUrl).toBe('http://a.example/');
  });

  it.each([
    ['https://user:pass@a.example/', 'user:pass'],
    ['https://user@a.example/', 'user:'],
    ['https://:pass@a.example/', ':pass'],
    ['https://us%40er:p%3Aa%2Fss@a.example/', 'us@er:p:a/ss'],
    ['https://üser:pässword@a.example/', 'üser:pässword'],
    ['https://user:%zz@a.example/', 'user:%zz'],
    ['http:\\\\user:pass@a.example/', 'user:pass'],
  ])(
    'becomes Basic authentication for the userinfo of %s, which is neither requested nor shown',
    (url, credentials) => {
      const webhook = prepare(url);
      expect(webhook.url).toMatch(/^https?:\/\/a\.example\/$/);
      expect(webhook.shownUrl).toMatch(/^https?:\/\/\*\*\*@a\.example\/$/);
      expect(webhook.headers.slice(-2)).toEqual([
        'Authorization',
        `Basic ${Buffer.from(credentials).toString('base64')}`,
      ]);
    },
  );

  it.each([
    ['ftp://a.example/x', 'did you mean https://a.example/x?'],
    ['a.example/x', 'did you mean https://a.example/x?'],
    ['//a.example/x', 'did you mean https://a.example/x?'],
    ['localhost:3000/x', 'did you mean http://localhost:3000/x?'],
    ['127.0.0.1:3000', 'did you mean http://127.0.0.1:3000?'],
    ['ws://localhost/x', 'did you mean http://localhost/x?'],
    ['receiver:3000/x', 'did you mean http://receiver:3000/x?'],
    ['http://', 'check the host and the port'],
    ['http://a.example:99999/', 'check the host and the port'],
  ])('is rejected with a suggestion: %j', (url, hint) => {
    const error = errorOf(url);
    expect(error.message).toBe(`Expected an http:// or https:// URL, got \`${url}\``);
    expect(error.hint).toBe(hint);
    expect(error.key).toBe(`${CONTEXT.setting}[0].url`);
  });

  it.each(['http://a.example/#', 'http://a.example/#top', 'http://a.example/?q=1#x'])(
    'is rejected with a fragment: %s',
    (url) => {
      expect(errorOf(url).message).toBe(`Expected a URL without a fragment, got \`${url}\``);
    },
  );

  it.each([
    'http://a.example/a b',
    'http://a.example/a\nb',
    'http://a.example/\u0000',
    'http://a.example/\u0085',
  ])('is rejected with white space or a control character: %j', (url) => {
    expect(errorOf(url).message).toMatch(
      /^Expected a URL without white space in it, got `http:\/\/a\.example\//,
    );
    expect(errorOf(url).message).not.toContain('\n');
  });

  it.each([
    'ftp://me:hunter2@a.example/',
    'http://me:hun/ter2@a.example/',
    'me:hunter2@a.example',
    'http://me:hunter2@a.example:99999/',
    'http://me:hunter2@a.example/#x',
    'http://me:hunter2@a.example/ x',
    'http://me:hun#ter2@a.example/',
    'http:/me:hunter2@a.example/ x',
  ])('is rejected without showing its password: %j', (url) => {
    expect(shown(errorOf(url))).not.toMatch(/hun|ter2/);
  });

  it.each([0, 6])('must occur 1 to 5 times, not %i', (count) => {
    const webhooks = Array.from({ length: count }, () => ({ url: 'http://a.example/', headers: {} }));
    expect(() => prepareWebhooks(webhooks, CONTEXT)).toThrow(
      `Expected 1 to 5 webhooks for a destination, got ${count}`,
    );
  });

  it('may repeat, with different keys', () => {
    const urls = ['http://u:1@a.example/', 'http://u:2@a.example/', 'http://b.example/', 'http://b.example/'];
    const webhooks = prepareWebhooks(
      urls.map((url) => ({ url, headers: {} })),
      CONTEXT,
    );
    expect(webhooks.map(({ key }) => key)).toEqual([
      'http://***@a.example/',
      'http://***@a.example/#2',
      'http://b.example/',
      'http://b.example/#2',
    ]);
  });
});

describe('the headers of a webhook', () => {
  const URL = 'https://a.example/';

  it('begin with the user agent and the content type', () => {
    expect(prepare(URL, { 'X-Env': 'staging', Authorization: 'Bearer t' }).headers).toEqual([
      'User-Agent',
      'hooks-cli/1.2.3',
      'Content-Type',
      'application/json',
      'X-Env',
      'staging',
      'Authorization',
      'Bearer t',
    ]);
  });

  it('may replace the user agent', () => {
    expect(prepare(URL, { 'user-agent': 'mine/1' }).headers).toEqual([
      'Content-Type',
      'application/json',
      'user-agent',
      'mine/1',
    ]);
  });

  it.each(['', ' ', 'tab\there', 'printable !~', '\u0080\u00ff é'])('may have the value %j', (value) => {
    expect(prepare(URL, { 'X-Value': value }).headers).toContain(value);
  });

  it.each([
    ['hunter2\n', 'Header `X-Value` has a line break at character 8 of its value'],
    ['hunter2\r\nX-Evil: 1', 'Header `X-Value` has a line break at character 8 of its value'],
    ['hunter2\u0000', 'Header `X-Value` has a control character at character 8 of its value'],
    ['hunter2\u007f', 'Header `X-Value` has a control character at character 8 of its value'],
    ['hunter2–', 'Header `X-Value` has a character above U+00FF at character 8 of its value'],
  ])('cannot have the value %j, which is not shown', (value, message) => {
    const error = errorOf(URL, { 'X-Value': value });
    expect(error.message).toBe(message);
    expect(error.key).toBe(`${CONTEXT.setting}[0].headers.X-Value`);
    expect(shown(error)).not.toContain('hunter2');
  });

  it.each(['', ' X-A', 'X A', 'X-A:', 'X-Ä', 'X(A)', 'X-A\n'])('cannot have the name %j', (name) => {
    expect(errorOf(URL, { [name]: 'v' }).message).toMatch(/^Expected a header name, got `/);
  });

  it('hide a value that was pasted into the name', () => {
    const error = errorOf(URL, { 'Authorization: Bearer hunter2': '' });
    expect(error.message).toBe('Expected a header name, got `Authorization…`');
    expect(shown(error)).not.toContain('hunter2');
  });

  it.each([
    'Connection',
    'Keep-Alive',
    'Proxy-Authorization',
    'Proxy-Connection',
    'TE',
    'Trailer',
    'Transfer-Encoding',
    'Upgrade',
    'Host',
    'Content-Length',
    'content-type',
    'EXPECT',
    'X-Signature',
  ])('cannot set %s', (name) => {
    const error = errorOf(URL, { [name]: 'hunter2' });
    expect(error.message).toMatch(new RegExp(`^Header \`${name}\` cannot be set: `));
    expect(shown(error)).not.toContain('hunter2');
  });

  it('may have the names of object properties', () => {
    expect(prepare(URL, { constructor: 'v', toString: 'w' }).headers).toContain('constructor');
  });

  it('cannot have the same name twice', () => {
    expect(errorOf(URL, { 'X-A': '1', 'x-a': '2' }).message).toBe(
      'Header `x-a` is given twice, in different spellings',
    );
  });

  it('cannot set Authorization if the URL has userinfo', () => {
    const error = errorOf('https://me:hunter2@a.example/', { authorization: 'Bearer hunter2' });
    expect(error.message).toBe('Header `Authorization` is set, and the URL has a user or password as well');
    expect(shown(error)).not.toContain('hunter2');
  });
});
