import { STATUS_CODES } from 'node:http';
import { rulesOfKind, type CauseRule } from './cause-rule.ts';

/** Code of a redirect to the URL of the request itself, which only a comparison of that URL with Location shows. */
export const SELF_REDIRECT = 'redirect-to-itself';

const FAILED = 'look into the log of the receiver, which failed; --retry-for tries longer';
const REDIRECTS = [300, 301, 302, 303, 304, 305, 307, 308];
const HEADERS = 'send fewer or shorter headers (--header), or a shorter URL';

/** Causes by status and headers, used if no more specific rule applies. */
export const STATUS_RULES = rulesOfKind('status', 'proved', {
  'login-redirect': {
    kind: 'way',
    status: REDIRECTS,
    headers: {
      location:
        /(?:^|[/.])(?:log-?in|sign[-_]?in|sso|auth|oauth2?|authorize|wp-login\.php)(?:$|[/?#.;])|accounts\.google\.com|cloudflareaccess\.com/i,
    },
    says: 'it redirects to a login page: {location}',
    fix: 'exempt {path} from the login: the signature proves the sender (Cloudflare Access: add a bypass policy)',
  },
  'redirect-front-page': {
    kind: 'receiver',
    status: [302, 303],
    headers: { location: /^(?:https?:\/\/[^/]+)?\/?$/ },
    says: 'it redirects to a front page, {location}, and redirects are not followed',
    fix: "send --header 'Accept: application/json' to see why: Laravel redirects what fails its validation; or give the URL that it leads to, if that is the receiver",
  },
  redirect: {
    status: REDIRECTS,
    headers: { location: /./ },
    says: 'it redirects to {location}, and redirects are not followed',
    fix: 'give the URL that it leads to, if that is the receiver: {location}',
  },
  [SELF_REDIRECT]: {
    status: [],
    says: 'it redirects to the same URL again: {location}',
    fix: 'respond with 2xx at this URL: its rule for redirects matches the target URL, too',
  },
  authentication: {
    kind: 'way',
    status: [401, 403],
    headers: { 'www-authenticate': /^(?!.*(?:signature|hmac))./i },
    says: 'it wants HTTP authentication, whatever the signature',
    fix: "give it: --header 'Authorization: …' (Basic, Bearer) or https://USER:PASSWORD@{host}{path}; or exempt {path}",
  },
  'proxy-or-receiver': {
    status: [400, 403],
    headers: { ':forwarded': /./ },
    says: 'the response came through the proxy in {proxy}, which may have rejected the request itself',
    fix: 'go direct to see whether the proxy or the receiver rejects it: NO_PROXY={hostname}; or let the proxy allow {host}',
  },
  unsigned: {
    status: [401, 403],
    isSigned: false,
    says: 'the request was unsigned: there is no --secret, HOOKS_SECRET or sharedSecret',
    fix: 'give the secret that the receiver verifies with: --secret-file FILE or HOOKS_SECRET; hooks test URL says more',
  },
  'signature-refused': {
    confidence: 'possible',
    status: [401, 403],
    isSigned: true,
    says: 'it rejects the signature or the sender',
    fix: "look into the receiver's log: if its handler does not run, exempt {path} in the layer in front (authentication, CSRF, proxy); if it does, hooks test URL finds out whether it has the same secret, reads the right header and hashes the right bytes",
  },
  'rate-limit': {
    kind: 'busy',
    status: [429],
    says: 'it limits the rate (429{wait})',
    fix: 'send more slowly (replay --rate), or try longer with --retry-for',
  },
  'not-found': {
    confidence: 'likely',
    status: [404],
    says: 'no route takes POST at {path}, or its handler sets no response',
    fix: 'compare host and path of the URL with the routes of the receiver; if the route is there, respond with 2xx at the end of its handler (Koa and others respond with 404 without one)',
  },
  'no-post': {
    status: [405],
    says: 'it does not accept POST at {path}',
    fix: 'check the path of the URL: it must take POST',
  },
  malformed: {
    confidence: 'possible',
    status: [400, 422],
    says: 'it does not accept the content of the message',
    fix: 'compare the message with what its validation expects; hooks test URL shows what the receiver expects',
  },
  unavailable: {
    kind: 'busy',
    status: [503],
    says: 'the receiver, or a proxy in front of it, is not available now{wait}',
    fix: FAILED,
  },
});

/** Fixes by status. The name of the status says what is wrong. */
const FIXES: Readonly<Record<number, string>> = {
  402: 'look into the account of the receiver at its host',
  406: "respond with 2xx whatever Accept says (Rails: head :ok); or send --header 'Accept: application/json'",
  407: 'give user and password: {proxy}=http://USER:PASSWORD@HOST:PORT; or let the proxy pass {path} without',
  409: 'respond with 2xx to a known messageId: a message may arrive more than once',
  410: 'ask its owner for the new URL',
  411: 'let the proxy in between forward bodies unchanged, not in chunks (nginx: proxy_request_buffering on)',
  412: "do not require a condition at {path}, or give it: --header 'If-Match: *'",
  413: 'send smaller messages, or raise the limit of the receiver to 64 KB',
  414: HEADERS,
  415: 'let the receiver accept Content-Type: application/json',
  421: 'check the host name and its DNS record; the server must list {hostname} (server_name, ServerAlias)',
  426: 'give the URL of the receiver, with https:// where it wants TLS; or let {path} take POST over HTTP/1.1',
  428: "do not require a condition at {path}, or give it: --header 'If-Match: *'",
  431: HEADERS,
  451: 'send from another place',
  494: HEADERS,
  501: 'check that the URL is the one of the receiver',
  505: 'check that the URL is the one of the receiver',
  507: 'make room on the machine of the receiver',
  511: 'log in to the network with a browser',
};
/** Statuses that do not depend on the body: a receiver that responds with one of them does so to every request. */
const FOR_ALL: ReadonlySet<number> = new Set([402, 406, 407, 411, 412, 421, 426, 428, 451, 501, 505, 511]);
const LATER: ReadonlySet<number> = new Set([408, 423, 425]);

/** Makes the rule of a status that has no rule of its own, from its fix or its class (5xx, 4xx, other). */
export function statusRule(status: number): CauseRule {
  const own = FIXES[status];
  const name = `${status} ${STATUS_CODES[status] ?? ''}`.trim();
  const later = `${name} means: try again later`;
  const rule = { code: 'status', kind: 'status', confidence: 'possible' } as const;
  if (own !== undefined) {
    const kind = FOR_ALL.has(status) ? 'way' : 'status';
    const says = `its response is ${name}`;
    return { code: `status-${status}`, kind, confidence: 'proved', says, fix: own };
  }
  if (LATER.has(status)) {
    const fix = 'try longer with --retry-for';
    return { code: 'too-early', kind: 'busy', confidence: 'proved', says: later, fix };
  }
  if (status >= 500) return { ...rule, says: later, fix: FAILED };
  const isRedirect = status < 400;
  const meaning = isRedirect ? 'is not a response to a message' : 'means: do not try again';
  const fix = isRedirect ? 'respond with 2xx at this URL' : "look into the receiver's log for the reason";
  return { ...rule, says: `${name} ${meaning}`, fix };
}

/** Fallback for a response whose words no other rule recognizes. */
export const OWN_WORDS: CauseRule = {
  code: 'own-words',
  kind: 'status',
  confidence: 'proved',
  fix: 'find these words in the receiver or in the proxy in front of it: they stand where the message is rejected',
};

/** Fallback for a 5xx whose words no other rule recognizes. */
export const FAILURE_WORDS: CauseRule = {
  code: 'failure-words',
  kind: 'status',
  confidence: 'proved',
  fix: 'repair this in the receiver, whose log names file and line; then send the message again',
};

/** Fallback for an exception that no other rule recognizes. */
export const EXCEPTION_THERE: CauseRule = { ...FAILURE_WORDS, code: 'exception', kind: 'receiver' };
