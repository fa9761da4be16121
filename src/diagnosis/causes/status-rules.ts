import { rulesOfKind, type CauseRule } from './cause-rule.ts';

/** Code of a redirect to the URL of the request itself, which only a comparison of that URL with Location shows. */
export const SELF_REDIRECT = 'redirect-to-itself';

const FAILED = 'look into the log of the receiver, which failed; --retry-for tries longer';
const NOT_RUNNING = 'start the application, and check the address and port that the proxy forwards to';
const REDIRECTS = [300, 301, 302, 303, 304, 305, 307, 308];
const LATE = 'let the receiver respond first and work later';
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
    fix: 'exempt {path} from the login (Cloudflare Access: add a bypass policy): the signature proves the sender; redirects are not followed',
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
    fix: 'check that sender and receiver have the same secret; hooks test URL finds out how the receiver verifies',
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
    says: 'there is nothing at {path}',
    fix: 'check the path of the URL',
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
  conflict: {
    confidence: 'possible',
    status: [409],
    says: 'it already has this message, or is processing it',
    fix: 'respond with 2xx to a known messageId: a message may arrive more than once',
  },
  'too-large': {
    status: [413],
    says: 'it accepts only smaller bodies',
    fix: 'send smaller messages, or raise the limit of the receiver to 64 KB',
  },
  'uri-too-long': {
    status: [414, 431, 494],
    says: 'the URL or the headers are too long for it',
    fix: HEADERS,
  },
  'media-type': {
    status: [415],
    says: 'it does not accept application/json',
    fix: 'let the receiver accept Content-Type: application/json',
  },
  'not-acceptable': {
    kind: 'receiver',
    status: [406],
    says: 'it has no response of a type that the request accepts',
    fix: "respond with 2xx whatever Accept says (Rails: head :ok); or send --header 'Accept: application/json'",
  },
  'proxy-password-there': {
    kind: 'way',
    status: [407],
    says: 'a proxy in between wants a user and a password (407)',
    fix: 'give them: {proxy}=http://USER:PASSWORD@HOST:PORT; or let the proxy pass {path} without',
  },
  'bad-gateway': {
    kind: 'busy',
    confidence: 'likely',
    status: [502],
    says: 'a proxy ({server}) responded in place of the application, which is not running or closed the connection',
    fix: NOT_RUNNING,
  },
  late: {
    kind: 'busy',
    confidence: 'likely',
    status: [504],
    says: 'a proxy ({server}) responded in place of the application, which took too long',
    fix: LATE,
  },
  unavailable: {
    kind: 'busy',
    status: [503],
    says: 'the receiver, or a proxy in front of it, is not available now{wait}',
    fix: FAILED,
  },
});

/** Makes the rule of a status that has no rule of its own, from the class of the status (5xx, 4xx, other). */
export function statusRule(status: number): CauseRule {
  const own = { code: 'status', kind: 'status', confidence: 'possible' } as const;
  if (status >= 500) return { ...own, says: '{status} means: try again later', fix: FAILED };
  if ([408, 423, 425].includes(status)) {
    const fix = 'try longer with --retry-for';
    return {
      ...own,
      code: 'too-early',
      kind: 'busy',
      confidence: 'proved',
      says: '{status} means: try again later',
      fix,
    };
  }
  if (status >= 400) {
    const fix = "look into the receiver's log for the reason";
    return { ...own, says: '{status} means: do not try again', fix };
  }
  return { ...own, says: '{status} is not a response to a message', fix: 'respond with 2xx at this URL' };
}

/** Fallback for a response whose words no other rule recognizes. */
export const OWN_WORDS: CauseRule = {
  code: 'own-words',
  kind: 'status',
  confidence: 'proved',
  fix: 'do what these words ask for; they stand in the code of the receiver, at the line that rejects the message',
};

/** Fallback for an exception or failure that no other rule recognizes. */
export const EXCEPTION_THERE: CauseRule = {
  code: 'exception',
  kind: 'receiver',
  confidence: 'proved',
  fix: 'repair this in the receiver, whose log names file and line; then send the message again',
};
