import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { MAX_QUOTATION, responseWords } from '../../../src/diagnosis/causes/response-words.ts';

interface SavedResponse {
  readonly file: string;
  /** The sentence that the author of the receiver needs. */
  readonly says: string;
  /** Other sentences of the response that are as useful. */
  readonly alsoSays?: readonly string[];
}

const FOLDER = new URL('../../../fixtures/responses/', import.meta.url);
// The file is written by the script that saved the responses.
const SAVED = JSON.parse(readFileSync(new URL('expected.json', FOLDER), 'utf8')) as readonly SavedResponse[];

/** Responses whose quotation is another sentence than the expected one, with the reason. At most 5 %. */
const EXCEPTIONS: Readonly<Record<string, string>> = {
  'nextjs-development-api-exception.http':
    'the message stands in a script only, which the page of Next.js renders',
  'slim-debug-exception.http': 'a paragraph that announces the message stands before it',
};

function bodyOf(file: string): string {
  const text = readFileSync(new URL(file, FOLDER), 'utf8');
  return text
    .slice(text.search(/\r?\n\r?\n/))
    .trimStart()
    .slice(0, 16 * 1024);
}

describe('the words of a real response', () => {
  it.each(SAVED.filter(({ file }) => EXCEPTIONS[file] === undefined))(
    'are quoted: $file',
    ({ file, says, alsoSays = [] }) => {
      const { quotation } = responseWords(bodyOf(file));
      const found = [says, ...alsoSays].some((sentence) => quotation.includes(sentence));
      expect({ quotation, found }).toEqual({ quotation, found: true });
    },
  );

  it('have few exceptions', () => {
    expect(Object.keys(EXCEPTIONS).length).toBeLessThanOrEqual(SAVED.length * 0.05);
  });
});

describe('responseWords', () => {
  it.each([
    ['{"errors":[{"message":"no such event","path":["track","event"]}]}', 'track.event: no such event'],
    ['{"detail":[{"loc":["body","event"],"msg":"field required"}]}', 'body.event: field required'],
    ['{"message":"No such hook","hint":"Activate it first"}', 'No such hook (hint: Activate it first)'],
    [
      '{"type":"about:blank","title":"Bad Request","status":400,"detail":"plan is unknown"}',
      'plan is unknown',
    ],
    [
      '{"error":"invalid_request","error_description":"The event is not registered"}',
      'The event is not registered',
    ],
    ['{"timestamp":"2026-11-20","status":404,"error":"Not Found","path":"/hook"}', 'Not Found'],
    ['{"email":["This field is required."]}', 'email: This field is required.'],
    ['{"data":{"inner":{"error":{"message":"cut off in the mid', 'cut off in the mid'],
    ['{"message":"a \\u0022quoted\\u0022 event","trace":["at x (y:1)', 'a "quoted" event'],
    ['{"name":"TypeError","message":"x is not a function"}', 'TypeError: x is not a function'],
    [
      'Traceback (most recent call last):\n  File "a.py", line 3, in b\n    c()\nKeyError: \'plan\'\n',
      "KeyError: 'plan'",
    ],
    [
      'java.lang.RuntimeException: outer\n\tat a.B.c(B.java:3)\nCaused by: a.Inner: the plan\n\t... 3 more',
      'a.Inner: the plan',
    ],
    [
      'panic: assignment to entry in nil map\n\ngoroutine 1 [running]:\nmain.main()',
      'panic: assignment to entry in nil map',
    ],
    [
      'System.ArgumentException: no plan\n   at Hook.Post() in /app/Hook.cs:line 3',
      'System.ArgumentException: no plan',
    ],
    [
      "hook.rb:3:in 'create': no plan (RuntimeError)\n\tfrom hook.rb:9:in 'main'",
      "hook.rb:3:in 'create': no plan (RuntimeError)",
    ],
    [
      'PHP Fatal error:  Uncaught Error: no plan in /hook.php:3\nStack trace:\n#0 {main}',
      'PHP Fatal error: Uncaught Error: no plan in /hook.php:3',
    ],
    [
      '<html><style>p{}</style><title>Error</title><h1>Bad Request</h1><p>It&#x27;s &lt;too&gt; old</p>',
      "It's <too> old",
    ],
    [
      '<h1>KeyError at /hook</h1><pre class="exception_value">&#39;plan&#39;</pre>',
      "KeyError at /hook: 'plan'",
    ],
    ['', ''],
  ])('reduces %j to %j', (body, quotation) => {
    expect(responseWords(body).quotation).toBe(quotation);
  });

  it.each([
    'Bad Request',
    '<h1>502 Bad Gateway</h1><center>nginx</center>',
    '{"message":"Internal server error"}',
  ])('finds that %j only repeats the status', (body) => expect(responseWords(body).isTelling).toBe(false));

  it.each([
    ['cannot connect to postgres://app:Sup3rPass@db:5432', 'cannot connect to postgres://app:***@db:5432'],
    ['login with password=hunter2 failed', 'login with password=*** failed'],
    ['{"error":"bad header Bearer sk_live_abcdefgh123"}', 'bad header Bearer ***'],
    ['\u001f\u008b\u0000\u0000 compressed text', ''],
  ])('quotes %j without credentials and binary data', (body, quotation) => {
    expect(responseWords(body).quotation).toBe(quotation);
  });

  it('keeps at most 300 characters', () => {
    expect(responseWords('word '.repeat(500)).quotation.length).toBeLessThanOrEqual(MAX_QUOTATION);
  });

  it.each([
    '<',
    '<a',
    '<!--',
    '<style',
    '<style>',
    '{"a":',
    '[',
    '"',
    '\\"',
    '{"a":"\\',
    '&#',
    '&',
    ' ',
    '\n',
    'at (',
    'Error: ',
    'A.',
  ])('reads 16 KB of %j quickly', (piece) => {
    for (const start of ['', '<html>', '{', '["']) {
      const body = (start + piece.repeat(16_384)).slice(0, 16_384);
      const before = process.cpuUsage();
      responseWords(body);
      expect(process.cpuUsage(before).user / 1_000).toBeLessThan(150);
    }
  });
});
