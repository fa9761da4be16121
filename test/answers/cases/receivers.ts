import { STATUS_CODES } from 'node:http';
import type { AnswerCase, AnswerTheme } from '../answer-case.ts';
import { responds } from '../counterparts.ts';
import { REPLAY, responding, SEND, SIGNED, testing, type RespondingCase } from './sending.ts';

const STATUSES: readonly RespondingCase[] = [
  {
    id: 'not-found',
    title: 'nothing is routed at the path of the URL',
    status: 404,
    body: 'Not Found',
    cause: '404 Not Found from {url}',
    fix: 'compare host and path of the URL with the routes of the receiver',
  },
  {
    id: 'no-post',
    title: 'the route takes another method than POST',
    status: 405,
    cause: '405 Method Not Allowed from {url}',
    fix: 'check the path of the URL: it must take POST',
  },
  {
    id: 'validation-message',
    title: 'the validation of the receiver wants other fields',
    status: 422,
    body: '{"detail":[{"loc":["body","user_id"],"msg":"Field required"}]}',
    cause: 'body.user_id: Field required',
    fix: 'accept the fields of every message type',
  },
  {
    id: 'signature-refused',
    title: 'sender and receiver have different secrets',
    status: 401,
    body: '{"error":"invalid signature"}',
    cause: '401 Unauthorized from {url}',
    fix: 'check that it has the same secret; then run hooks test URL, which finds out how the receiver verifies',
  },
  {
    id: 'payment',
    title: 'the account of the receiver at its host is suspended',
    status: 402,
    cause: '402 Payment Required from {url}',
    fix: "look into the receiver's log for the reason",
  },
  {
    id: 'rate-limited',
    title: 'the receiver limits the rate',
    status: 429,
    headers: { 'Retry-After': '2' },
    cause: '429 Too Many Requests from {url}',
    fix: 'send more slowly (replay --rate); --retry-for tries longer',
  },
  {
    id: 'redirect-slash',
    title: 'the URL lacks the final slash',
    status: 301,
    headers: { Location: '/hook/' },
    cause: 'Location: /hook/',
    fix: 'give the URL that it leads to, if that is the receiver: /hook/',
  },
  {
    id: 'redirect-https',
    title: 'http:// where the receiver wants https://',
    status: 308,
    headers: { Location: 'https://receiver.example/hook' },
    cause: 'Location: https://receiver.example/hook',
    fix: 'give the URL that it leads to',
  },
  {
    id: 'redirect-login',
    title: 'the path is behind a login',
    status: 302,
    headers: { Location: '/users/sign_in?next=%2Fhook' },
    cause: 'it redirects to a login page: /users/sign_in',
    fix: 'exempt /hook from the login: the signature proves the sender',
  },
];

const UNSIGNED: readonly RespondingCase[] = [
  {
    id: 'unsigned-401',
    title: 'the receiver wants a signature, and there is no secret',
    status: 401,
    argv: SEND,
    cause: 'the request was unsigned: there is no --secret, HOOKS_SECRET or sharedSecret',
    fix: 'give the secret that the receiver verifies with: --secret-file FILE or HOOKS_SECRET; hooks test URL says more',
  },
  {
    id: 'unsigned-403',
    title: 'the receiver responds with 403 to what is unsigned',
    status: 403,
    argv: SEND,
    cause: 'the request was unsigned: there is no --secret, HOOKS_SECRET or sharedSecret',
    fix: 'give the secret that the receiver verifies with: --secret-file FILE or HOOKS_SECRET',
  },
  {
    id: 'basic-auth',
    title: 'the path is behind HTTP authentication',
    status: 401,
    headers: { 'WWW-Authenticate': 'Basic realm="staging"' },
    cause: 'it wants HTTP authentication, whatever the signature',
    fix: "give it: --header 'Authorization: …' (Basic, Bearer)",
    never: ['the request was unsigned', 'same secret'],
  },
  {
    id: 'bearer-auth',
    title: 'an API gateway wants a bearer token',
    status: 401,
    headers: { 'WWW-Authenticate': 'Bearer' },
    cause: 'it wants HTTP authentication, whatever the signature',
    fix: "give it: --header 'Authorization: …' (Basic, Bearer)",
    never: ['same secret'],
  },
];

/** Statuses that mean "later" take no check's own explanation, and no flag that hooks test does not have. */
const LATER: readonly RespondingCase[] = (
  [
    [408, '408…means: try again later', 'let the receiver respond with 2xx to a valid message'],
    [423, '423…means: try again later', 'let the receiver respond with 2xx to a valid message'],
    [425, '425…means: try again later', 'let the receiver respond with 2xx to a valid message'],
    [503, 'is not available now', 'look into its log for the reason; if it is in maintenance, end that'],
    [
      504,
      'responded in place of the application, which took too long',
      'let the receiver respond first and work later',
    ],
  ] as const
).map(([status, cause, fix]) => ({
  id: `later-${status}`,
  title: `everything gets ${status}`,
  status,
  cause,
  fix,
  never: ['--retry-for', 'needs userId', '✓ wrong-signature', '✓ garbage-signature'],
}));

/** What each status is told to do about, in `send` and `replay` alike. */
const FIXES: readonly (readonly [fix: string, ...statuses: readonly number[]])[] = [
  ['give the URL that it leads to', 300, 301, 302, 303, 305, 307, 308],
  ['respond with 2xx at this URL', 304, 306],
  ['if its handler does not run, exempt /hook in the layer in front', 401, 403],
  ['compare host and path of the URL with the routes of the receiver', 404],
  ['check the path of the URL', 405],
  ['respond with 2xx whatever Accept says', 406],
  ['or let the proxy pass /hook without', 407],
  ['however early it arrives; --retry-for tries longer', 408, 423, 425],
  ['respond with 2xx to a known messageId', 409],
  ['forward bodies unchanged, not in chunks', 411],
  ['send smaller messages, or raise the limit of the receiver', 413],
  ['let the receiver accept Content-Type: application/json', 415],
  [
    "look into the receiver's log for the reason",
    400,
    402,
    410,
    412,
    414,
    416,
    417,
    418,
    422,
    424,
    428,
    431,
    451,
    494,
    499,
  ],
  ['check the host name and its DNS record', 421],
  ['give the URL of the receiver, with https:// where it wants TLS', 426],
  ['send more slowly (replay --rate)', 429],
  ['look into the log of the receiver, which failed; --retry-for tries longer', 500],
  ['look into its log for the reason; if it is in maintenance, end that; --retry-for tries longer', 503],
  ['look into the log of the receiver, which failed', 501, 505, 506, 507, 508, 510, 511, 599],
  ['check that the application runs', 502],
  ['let the receiver respond first and work later', 504],
  ['check that the server runs', 520, 521, 522, 523, 525, 526, 530],
  ['let the receiver respond first and work later', 524],
];

/** No status is without its second line. */
const EVERY_STATUS: readonly AnswerCase[] = FIXES.flatMap(([fix, ...statuses]) =>
  statuses.flatMap((status) =>
    (['send', 'replay'] as const).map((command): AnswerCase => ({
      id: `status-${status}-${command}`,
      title: `${command}, and everything gets ${status}`,
      given: {
        receiver: responds(status, '', status < 400 && status !== 304 ? { Location: '/other' } : {}),
        files: { 'day.ndjson': '{"type":"delete","userId":"u1"}' },
      },
      argv: command === 'send' ? SIGNED : REPLAY,
      cause: `${status} ${STATUS_CODES[status] ?? ''}…from {url}`,
      fix: `hint:  …${fix}`,
      never: ['undefined'],
    })),
  ),
);

/** The response of a receiver to a message. */
export const RECEIVERS: AnswerTheme = {
  title: 'The receiver responds, but does not take the message',
  cases: [
    ...STATUSES.map(responding),
    ...UNSIGNED.map(responding),
    ...UNSIGNED.slice(2).map(testing),
    ...LATER.map(testing),
    ...EVERY_STATUS,
    {
      id: 'redirect-verbose',
      title: 'a redirect, with -v',
      given: { receiver: () => ({ status: 307, headers: { Location: 'https://b.example/hook' } }) },
      argv: [...SEND, '-v'],
      cause: 'Location: https://b.example/hook',
      fix: 'give the URL that it leads to',
    },
    {
      id: 'redirect-json',
      title: 'a redirect, read by a program',
      given: { receiver: () => ({ status: 307, headers: { Location: 'https://b.example/hook' } }) },
      argv: [...SEND, '-o', 'json'],
      cause: '"location":"https://b.example/hook"',
      fix: '"hint":"give the URL that it leads to',
    },
    {
      id: 'replay-hint',
      title: 'a replay to a path that is not there: the hint stands once',
      given: {
        receiver: () => ({ status: 404 }),
        files: { 'day.ndjson': '{"type":"delete","userId":"u1"}\n{"type":"delete","userId":"u2"}\n' },
      },
      argv: ['replay', 'day.ndjson', '--url', '{url}', '--retry-for', '0'],
      cause: '404 Not Found from {url}',
      fix: 'if the route is there, let its handler set the status before it returns',
    },
    {
      id: 'crash-on-message',
      title: 'the receiver crashes on the message',
      given: {
        receiver: ({ index }) => (index === 0 ? 'reset' : { status: 200 }),
      },
      argv: SEND,
      cause: 'connection broken off by {url}',
      fix: 'look into the log of the receiver: it may have crashed on this message',
      never: ['is it running', 'wait until it listens'],
    },
  ],
};
