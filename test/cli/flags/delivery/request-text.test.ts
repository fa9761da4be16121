import { execFileSync } from 'node:child_process';
import { describe, expect, it } from 'vitest';
import { requestText } from '../../../../src/cli/flags/delivery/request-text.ts';
import { readUsageError } from '../../../../src/cli/usage-errors.ts';

const HEADERS = [
  ['Content-Type', 'application/json'],
  ['Authorization', 'Basic abc'],
  ['X-`id`-Token', '$(rm)'],
  ['X-Env', "it's"],
];
const REQUEST = {
  url: `http://a.example/x?y='z'`,
  headers: HEADERS.flat(),
  body: Buffer.from(`{"a":"it's \u009b $HOME"}`),
};

describe('the preview of a request', () => {
  it('shows variables instead of secrets', () => {
    expect(requestText(REQUEST, { format: 'text', showSecrets: false })).toEqual({
      text: `POST http://a.example/x?y='z'
Content-Type: application/json
Authorization: $HOOKS_AUTHORIZATION
X-\`id\`-Token: $HOOKS_X__ID__TOKEN
X-Env: it's

{"a":"it's \\u009b $HOME"}

`,
      variables: ['HOOKS_AUTHORIZATION', 'HOOKS_X__ID__TOKEN'],
    });
  });

  it('shows secrets if asked', () => {
    const { text, variables } = requestText(REQUEST, { format: 'json', showSecrets: true });
    expect(variables).toEqual([]);
    expect(JSON.parse(text)).toEqual({
      method: 'POST',
      url: REQUEST.url,
      headers: HEADERS,
      body: REQUEST.body.toString(),
    });
    expect(text).not.toContain('\u009b');
  });

  it('shows a body that is not text in base64', () => {
    const request = { ...REQUEST, body: Buffer.from([0xff, 0xfe]) };
    const textAs = (format: 'text' | 'json' | 'curl'): string =>
      requestText(request, { format, showSecrets: true }).text;
    expect(textAs('text')).toMatch(/\n\nbase64: \/\/4=\n\n$/);
    expect(JSON.parse(textAs('json'))).toMatchObject({ bodyBase64: '//4=' });
    expect(textAs('curl')).toMatch(/^printf %s '\/\/4=' \| base64 -d \|\ncurl .* --data-binary @-\n$/s);
  });

  it('is a curl command whose words, except variables, a shell passes on unchanged', () => {
    const body = Buffer.from(`{"a":"it's $HOME"}`);
    expect(requestText({ ...REQUEST, body }, { format: 'curl', showSecrets: false }).text).toBe(
      String.raw`curl -X POST 'http://a.example/x?y='\''z'\''' \
  -H 'Content-Type: application/json' \
  -H "Authorization: $HOOKS_AUTHORIZATION" \
  -H 'X-${'`id`'}-Token: '"$HOOKS_X__ID__TOKEN" \
  -H 'X-Env: it'\''s' \
  --data-raw '${`{"a":"it'\\''s $HOME"}`}'
`,
    );
  });
});

it('a curl command contains no control characters', () => {
  const { text } = requestText(REQUEST, { format: 'curl', showSecrets: false });
  expect(text).toMatch(/^printf %s '[\w+/=]+' \| base64 -d \|\ncurl [ -~\n]+ --data-binary @-\n$/);
});

describe('a usage error of commander', () => {
  it.each([
    [
      "error: unknown option '--evnt'\n(Did you mean --event?)\n",
      { sentence: 'Unknown option `--evnt`', hint: 'did you mean --event?' },
    ],
    ["error: unknown command 'x'\n", { sentence: 'Unknown command `x`' }],
    ["error: unknown option '--secrte=s3cret'\n", { sentence: 'Unknown option `--secrte=…`' }],
    ["error: unknown option '--secrte=s3\ncr'et'\n", { sentence: 'Unknown option `--secrte=…`' }],
    ["error: unknown option '-ss3cret'\n", { sentence: 'Unknown option `-s…`' }],
    ["error: unknown option '-x'\n", { sentence: 'Unknown option `-x`' }],
    [
      "error: missing required argument 'files'\n",
      { sentence: 'Expected the argument `files`, got nothing' },
    ],
  ])('%j reads like every other error', (text, told) => {
    expect(readUsageError(text)).toEqual(told);
  });
});

describe('a URL with secrets in its query', () => {
  const request = {
    url: 'http://a.test/hook?a=1&token=hidden&b=2&sig=hid%2Fden',
    headers: [],
    body: Buffer.from('{}'),
  };

  it('shows variables instead of them', () => {
    const { text, variables } = requestText(request, { format: 'text', showSecrets: false });
    expect(text).toContain('POST http://a.test/hook?a=1&token=$HOOKS_TOKEN&b=2&sig=$HOOKS_SIG\n');
    expect(variables).toEqual(['HOOKS_TOKEN', 'HOOKS_SIG']);
  });

  it('is a word that a shell expands to the whole URL', () => {
    const { text } = requestText(request, { format: 'curl', showSecrets: false });
    const [first = ''] = text.split('\n');
    const env = { ...process.env, HOOKS_TOKEN: 'hidden', HOOKS_SIG: 'hid%2Fden' };
    const word = first.replace('curl -X POST ', 'printf %s ').replace(/ \\$/, '');
    expect(execFileSync('sh', ['-c', word], { env, encoding: 'utf8' })).toBe(request.url);
  });

  it('is shown whole if asked', () => {
    const { text, variables } = requestText(request, { format: 'text', showSecrets: true });
    expect(text).toContain(`POST ${request.url}\n`);
    expect(variables).toEqual([]);
  });
});
