import type { AnswerCase, AnswerTheme } from '../answer-case.ts';
import { responds } from '../counterparts.ts';
import { both, CORRECT_ONES, SIGNED, WITH_PROBES, type RespondingCase } from './sending.ts';

/** Rejections whose words name what is missing: they lead, and nothing guesses at the secret. */
const REJECTIONS: readonly RespondingCase[] = [
  {
    id: 'wants-token',
    title: 'the receiver wants a token, and says so in JSON',
    status: 401,
    body: '{"error":"unauthorized","message":"invalid token"}',
    cause: 'invalid token',
    fix: "if the request has what it wants, look at what arrives (nginx drops names with _); else give it: --header 'Authorization",
  },
  {
    id: 'wants-api-key',
    title: 'the receiver wants an API key',
    status: 403,
    body: '{"error":{"code":403,"message":"API key not valid. Please pass a valid API key."}}',
    cause: 'API key not valid. Please pass a valid API key.',
    fix: "if the request has what it wants, look at what arrives (nginx drops names with _); else give it: --header 'Authorization",
  },
  {
    id: 'wants-address',
    title: 'the receiver lets in certain addresses only',
    status: 403,
    body: '{"error":"IP address 203.0.113.9 is not allowed"}',
    cause: 'IP address 203.0.113.9 is not allowed',
    fix: 'find these words in the receiver or in the proxy in front of it',
    maxRequests: WITH_PROBES,
  },
  {
    id: 'wants-header',
    title: 'the receiver wants a header of its own',
    maxRequests: WITH_PROBES,
    status: 400,
    body: '{"error":"missing header X-Tenant-Id"}',
    cause: 'missing header X-Tenant-Id',
    fix: 'find these words in the receiver or in the proxy in front of it',
    never: ['compare the message with what its validation expects'],
  },
  {
    id: 'wants-field',
    title: 'the receiver misses a field of the message',
    maxRequests: CORRECT_ONES,
    status: 400,
    body: '{"error":"field user_id missing"}',
    cause: 'field user_id missing',
    fix: 'accept the fields of every message type',
  },
  {
    id: 'own-words',
    title: 'the receiver gives a reason that only it knows',
    maxRequests: WITH_PROBES,
    status: 403,
    body: '{"error":"webhook endpoint is disabled"}',
    cause: 'webhook endpoint is disabled',
    fix: 'find these words in the receiver or in the proxy in front of it',
  },
  {
    id: 'own-words-text',
    title: 'the receiver gives its reason in a line of text',
    maxRequests: WITH_PROBES,
    status: 401,
    body: 'wrong workspace',
    cause: 'wrong workspace',
    fix: 'find these words in the receiver or in the proxy in front of it',
  },
  {
    id: 'own-words-page',
    title: 'the receiver gives its reason in a page',
    maxRequests: WITH_PROBES,
    status: 401,
    body: '<html><body><h1>Your account is suspended</h1></body></html>',
    cause: 'Your account is suspended',
    fix: 'find these words in the receiver or in the proxy in front of it',
  },
];

/** The page that Express shows for an error outside production. */
function expressPage(text: string): string {
  const escaped = text.replaceAll('"', '&quot;').replaceAll("'", '&#39;').replaceAll('\n', '<br>');
  return `<!DOCTYPE html>\n<html lang="en"><head><meta charset="utf-8"><title>Error</title></head><body><pre>${escaped}</pre></body></html>`;
}

/** Crashes that the page of the framework shows, all with 500. */
const CRASHES: readonly Omit<RespondingCase, 'status'>[] = [
  {
    id: 'crash-hash-of-object',
    title: 'express.json() instead of express.raw(): the receiver hashes an object',
    body: expressPage(
      'TypeError [ERR_INVALID_ARG_TYPE]: The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView. Received an instance of Object\n    at Hmac.update (node:internal/crypto/hash:154:11)',
    ),
    cause: 'The "data" argument must be of type string or an instance of Buffer',
    fix: "express.raw({ type: 'application/json' })",
  },
  {
    id: 'crash-hash-of-undefined',
    title: 'no parser at all: the receiver hashes undefined',
    body: expressPage(
      'TypeError [ERR_INVALID_ARG_TYPE]: The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView. Received undefined\n    at Hmac.update (node:internal/crypto/hash:154:11)',
    ),
    cause: 'The "data" argument must be of type string or an instance of Buffer',
    fix: "express.raw({ type: 'application/json' })",
  },
  {
    id: 'crash-compare-strings',
    title: 'timingSafeEqual gets text instead of Buffers',
    body: expressPage(
      'TypeError [ERR_INVALID_ARG_TYPE]: The "buf1" argument must be an instance of ArrayBuffer, Buffer, TypedArray, or DataView. Received type string (\'abc\')\n    at timingSafeEqual (node:internal/crypto/util:1:1)',
    ),
    cause: 'it compares signatures of different lengths or types, for which',
    fix: 'make both Buffers or bytes (Buffer.from(header ?? "")), compare the',
  },
  {
    id: 'crash-key-error',
    title: 'the receiver looks for the header under another name (Flask, Django)',
    body: "<!doctype html><html><head><title>KeyError: 'HTTP_X_SIGNATURE'\n // Werkzeug Debugger</title></head><body><h1>KeyError</h1></body></html>",
    cause: "KeyError: 'HTTP_X_SIGNATURE'",
    fix: "check the names of headers and of the secret's variable",
  },
  {
    id: 'crash-parsed-twice',
    title: 'JSON.parse of a body that is parsed already',
    body: expressPage('SyntaxError: "[object Object]" is not valid JSON\n    at JSON.parse (<anonymous>)'),
    cause: 'SyntaxError: "[object Object]" is not valid JSON',
    fix: 'read the body once, as bytes, on this route: express.raw(',
  },
  {
    id: 'crash-parsed-twice-old',
    title: 'the same in an older Node',
    body: expressPage(
      'SyntaxError: Unexpected token o in JSON at position 1\n    at JSON.parse (<anonymous>)',
    ),
    cause: 'SyntaxError: Unexpected token o in JSON at position 1',
    fix: 'read the body once, as bytes, on this route: express.raw(',
  },
  {
    id: 'crash-hash-of-text',
    title: 'Python: the hash gets text instead of bytes',
    body: '<!DOCTYPE html>\n<html lang="en"><head><title>TypeError\n          at /hook</title></head><body><div id="summary"><h1>TypeError\n       at /hook</h1><pre class="exception_value">Strings must be encoded before hashing</pre></body></html>',
    cause: 'Strings must be encoded before hashing',
    fix: 'repair this in the receiver, or in what it depends on',
  },
  {
    id: 'crash-rails-page',
    title: 'the page of Rails for an exception',
    body: '<!DOCTYPE html><html><head><title>Action Controller: Exception caught</title></head><body><header><h1>NoMethodError in HooksController#create</h1></header><div><h2>undefined method `unpack1&#39; for nil:NilClass</h2></div></body></html>',
    cause: "undefined method `unpack1' for nil:NilClass",
    fix: 'treat each field as optional',
  },
  {
    id: 'crash-unknown-exception',
    title: 'an exception that is known to the receiver only',
    body: '{"message":"Queue [webhooks] is not defined.","exception":"InvalidArgumentException","file":"/app/Http/Hook.php","line":31}',
    cause: 'InvalidArgumentException: Queue [webhooks] is not defined.',
    fix: 'repair this in the receiver, or in what it depends on',
  },
];

interface TakenCase extends Pick<AnswerCase, 'id' | 'title' | 'cause' | 'fix' | 'never'> {
  readonly body: string;
  /** Sends with -v, which shows guesses. */
  readonly isVerbose?: true;
}

/** What comes with a 200 and is no response of a receiver: delivered, with a warning. */
const TAKEN: readonly TakenCase[] = [
  {
    id: 'taken-error-json',
    title: 'a 200 whose JSON says that the signature is wrong',
    body: '{"success":false,"message":"invalid signature"}',
    cause: 'warning: delivered by its status, but it responds with 200, and an error in the body',
    fix: 'respond with 401 where the signature is wrong',
  },
  {
    id: 'taken-error-text',
    title: 'a 200 whose text says that the signature is invalid',
    body: 'ERROR: invalid signature',
    cause:
      'warning: delivered by its status, but it responds with 200, and an error in the body: "ERROR: invalid signature"',
    fix: 'respond with 401 where the signature is wrong',
  },
  {
    id: 'taken-rejected',
    title: 'a 2xx whose JSON says that the message was rejected',
    body: '{"status":"rejected","reason":"unknown tenant"}',
    cause: 'warning: delivered by its status, but it responds with 200, and an error in the body',
    fix: 'senders look only at the status',
  },
  {
    id: 'taken-login-page',
    title: 'a login page responds with 200',
    body: '<!DOCTYPE html><html><head><title>Log in</title></head><body><form><input type="password"></form></body></html>',
    cause: 'warning: delivered by its status, but probably a login page responds, not the receiver',
    fix: 'exempt /hook from the login',
  },
  {
    id: 'taken-page',
    title: 'a website responds with 200 at every path',
    body: '<!DOCTYPE html><html><head><title>My App</title></head><body><div id=root></div></body></html>',
    isVerbose: true,
    cause: 'perhaps: a website responded, because an HTML page came back',
    fix: 'give the URL of the receiver',
  },
  {
    id: 'taken-firewall-page',
    title: 'a firewall responds with 200',
    body: '<!DOCTYPE html><html><head><title>Just a moment...</title></head><body>Checking your browser</body></html>',
    cause: 'warning: delivered by its status, but Cloudflare responded in place of the application',
    fix: 'allow POST to /hook there',
    never: ['is this the URL of the receiver'],
  },
];

function taken({ body, isVerbose, ...rest }: TakenCase): AnswerCase {
  const argv = isVerbose === true ? [...SIGNED, '-v'] : SIGNED;
  return { ...rest, given: { receiver: responds(200, body) }, argv, exitCode: 0 };
}

/** What the response itself tells. */
export const OWN_WORDS_THEME: AnswerTheme = {
  title: 'The response says why, in its own words',
  cases: [
    ...REJECTIONS.flatMap((each) => both({ ...each, never: ['same secret', ...(each.never ?? [])] })),
    ...CRASHES.flatMap((each) => both({ ...each, status: 500 })),
    ...TAKEN.map(taken),
    {
      id: 'event-without-flag',
      title: 'the name of the event is given without its flag',
      argv: ['send', 'track', 'Signup', '--user-id', 'u1', '--url', 'http://127.0.0.1:9/'],
      cause: 'Expected no arguments, got 1',
      fix: 'give the value after its flag: --event Signup',
      exitCode: 2,
    },
  ],
};
