import { STATUS_CODES } from 'node:http';
import { rulesOfKind, type CauseRule } from './cause-rule.ts';
import { EXCEPTION } from './response-words.ts';

const FAILED = 'look into the log of the receiver, which failed';
const REDIRECTS = [300, 301, 302, 303, 304, 305, 307, 308];
const FAILURES = Array.from({ length: 100 }, (_, index) => 500 + index);
const REPAIR =
  'repair this in the receiver, or in what it depends on (its log says where); then send the message again';

/** Fixes for statuses whose name tells the cause, but not what to do. */
const FIXES: Readonly<Record<number, string>> = {
  406: "respond with 2xx whatever Accept says (Rails: head :ok); or send --header 'Accept: application/json'",
  407: 'give user and password: {proxy}=http://USER:PASSWORD@HOST:PORT; or let the proxy pass {path} without',
  411: 'let the proxy in between forward bodies unchanged, not in chunks (nginx: proxy_request_buffering on)',
  413: 'send smaller messages, or raise the limit of the receiver to 64 KB',
  415: 'let the receiver accept Content-Type: application/json',
  421: 'check the host name and its DNS record; the server must list {hostname} (server_name, ServerAlias)',
  426: 'give the URL of the receiver, with https:// where it wants TLS; or let {path} take POST over HTTP/1.1',
};
/** Statuses that a receiver gives to some messages. With any other, it rejects every message, whatever its signature. */
const OF_MESSAGE: ReadonlySet<number> = new Set([400, 401, 403, 404, 405, 409, 413, 415, 422, 500]);

function statusRule(status: number, fix: string): Omit<CauseRule, 'code'> {
  const kind = status < 400 || OF_MESSAGE.has(status) ? 'status' : 'way';
  const says = `its response is ${status} ${STATUS_CODES[status] ?? ''}`.trim();
  return { kind, confidence: 'proved', status: [status], says, fix };
}

export function unknownStatus(status: number): CauseRule {
  const redirect = 'respond with 2xx at this URL';
  const fix = status < 400 ? redirect : status < 500 ? "look into the receiver's log for the reason" : FAILED;
  return { ...statusRule(status, fix), code: 'status' };
}

export const STATUS_RULES = rulesOfKind('status', 'proved', {
  'login-redirect': {
    kind: 'way',
    status: REDIRECTS,
    headers:
      /^location: (?:.*[/.])?(?:log-?in|sign[-_]?in|sso|auth|oauth2?|authorize|wp-login\.php|accounts\.google\.com|\w+\.cloudflareaccess\.com)(?:$|[/?#.;])/im,
    says: 'it redirects to a login page: {location}',
    fix: 'exempt {path} from the login: the signature proves the sender (Cloudflare Access: add a bypass policy; a forwarded port of a codespace: make it public)',
  },
  redirect: {
    status: REDIRECTS,
    headers: /^location: /m,
    says: 'it redirects to {location}, and redirects are not followed',
    fix: "give the URL that it leads to, if that is the receiver: {location}; if it is the same URL again, respond with 2xx there; if it is a front page, send --header 'Accept: application/json' to see why (Laravel redirects what fails its validation)",
  },
  authentication: {
    kind: 'way',
    status: [401, 403],
    headers: /^www-authenticate: (?!.*(?:signature|hmac))/im,
    says: 'it wants HTTP authentication, whatever the signature',
    fix: "give it: --header 'Authorization: …' (Basic, Bearer) or https://USER:PASSWORD@{host}{path}; or exempt {path} (a dev tunnel: make its port public)",
  },
  'wants-token': {
    kind: 'receiver',
    status: [401, 403],
    quotation:
      /^(?!.*(?:signature|hmac)).*(?:\btokens?\b|\bjwt\b|api[-_ ]?key|credential|authorization|authenticated|logged in|\bheader\b)/i,
    fix: "if the request has what it wants, look at what arrives (nginx drops names with _); else give it: --header 'Authorization: Bearer …' or --header 'X-API-Key: …'; or exempt {path}",
  },
  unsigned: {
    status: [401, 403],
    isSigned: false,
    says: 'the request was unsigned: there is no --secret, HOOKS_SECRET or sharedSecret',
    fix: 'give the secret that the receiver verifies with: --secret-file FILE or HOOKS_SECRET; hooks test URL says more',
  },
  'no-post': {
    status: [405],
    says: 'it does not accept POST at {path}',
    fix: "check the path of the URL: it must take POST (Route::post('{path}', …), methods=['POST'], app.post, @PostMapping)",
  },
  'rate-limit': {
    kind: 'busy',
    status: [429],
    says: 'it limits the rate (429{wait})',
    fix: 'send more slowly (replay --rate)',
  },
  'too-early': {
    kind: 'busy',
    status: [408, 423, 425],
    says: '{status} means: try again later',
    fix: 'let the receiver respond with 2xx to a valid message, however early it arrives',
  },
  unavailable: {
    kind: 'busy',
    status: [503],
    says: 'the receiver, or a proxy in front of it, is not available now{wait}',
    fix: 'look into its log for the reason; if it is in maintenance, end that',
  },
  ...Object.fromEntries(
    Object.entries(FIXES).map(([status, fix]) => [`status-${status}`, statusRule(Number(status), fix)]),
  ),
  'not-found-words': {
    status: [404],
    quotation: /./,
    fix: 'compare host and path of the URL with the routes of the receiver (prefix, final slash, POST); if the route is there, find these words in its handler',
  },
  exception: { kind: 'receiver', status: FAILURES, quotation: EXCEPTION, fix: REPAIR },
  'failure-words': { status: FAILURES, quotation: /./, fix: REPAIR },
  'status-409': {
    confidence: 'likely',
    status: [409],
    says: 'it has seen this message before: it knows the messageId or the Idempotency-Key',
    fix: 'respond with 2xx to a known messageId, because a message may arrive more than once; to send the message as a new one, give it another messageId',
  },
  'own-words': {
    quotation: /./,
    fix: 'find these words in the receiver or in the proxy in front of it: they stand where the message is rejected',
  },
  'not-found': {
    confidence: 'likely',
    status: [404],
    says: 'no route takes POST at {path}, or its handler sets no response',
    fix: 'compare host and path of the URL with the routes of the receiver; if the route is there, let its handler set the status before it returns (Koa responds with 404 to a handler whose promise is not awaited)',
  },
  'signature-refused': {
    confidence: 'possible',
    status: [401, 403],
    isSigned: true,
    says: 'it rejects the signature or the sender',
    fix: "look into the receiver's log: if its handler does not run, exempt {path} in the layer in front (authentication, CSRF, proxy); if it does, hooks test URL finds out whether it has the same secret, reads the right header and hashes the right bytes",
  },
});
