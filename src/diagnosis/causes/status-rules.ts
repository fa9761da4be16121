import { rulesOfKind, type CauseRule } from './cause-rule.ts';

/** Code of a redirect to the URL of the request itself, which only a comparison of that URL with Location shows. */
export const SELF_REDIRECT = 'redirect-to-itself';

/** Causes by status, used if no more specific rule applies. */
export const STATUS_RULES = rulesOfKind('status', [
  {
    code: 'login-redirect',
    kind: 'way',
    status: [301, 302, 303, 307, 308],
    headers: {
      location:
        /(?:^|[/.])(?:log-?in|sign[-_]?in|sso|auth|oauth2?|authorize|wp-login\.php)(?:$|[/?#.;])|accounts\.google\.com/i,
    },
    says: 'it redirects to a login page: {location}',
    fix: 'exempt {path} from the login: the signature proves the sender; redirects are not followed',
  },
  {
    code: 'redirect-front-page',
    kind: 'receiver',
    status: [302, 303],
    headers: { location: /^(?:https?:\/\/[^/]+)?\/?$/ },
    says: 'it redirects to a front page, {location}, and redirects are not followed',
    fix: "send --header 'Accept: application/json' to see why: Laravel redirects what fails its validation; or give the URL that it leads to, if that is the receiver",
  },
  {
    code: 'redirect',
    status: [300, 301, 302, 303, 305, 307, 308],
    headers: { location: /./ },
    says: 'it redirects to {location}, and redirects are not followed',
    fix: 'give the URL that it leads to, if that is the receiver: {location}',
  },
  {
    code: SELF_REDIRECT,
    status: [],
    says: 'it redirects to the same URL again: {location}',
    fix: 'respond with 2xx at this URL: its rule for redirects matches the target URL, too',
  },
  {
    code: 'redirect-nowhere',
    status: [300, 301, 302, 303, 304, 305, 307, 308],
    says: '{status} is not a response to a message, and redirects are not followed',
    fix: 'respond with 2xx at this URL',
  },
  {
    code: 'authentication',
    kind: 'way',
    status: [401],
    headers: { 'www-authenticate': /^(?:Basic|Digest|Negotiate|NTLM)/i },
    says: 'it wants a user and a password (HTTP authentication), whatever the signature',
    fix: "give them: --header 'Authorization: Basic …' or https://USER:PASSWORD@{host}{path}; or exempt {path}",
  },
  {
    code: 'authentication-token',
    kind: 'way',
    status: [401, 403],
    headers: { 'www-authenticate': /^(?!.*(?:signature|hmac))./i },
    says: 'it wants a token (HTTP authentication), whatever the signature',
    fix: "give it: --header 'Authorization: Bearer …'; or exempt {path}",
  },
  {
    code: 'unsigned',
    status: [401, 403],
    isSigned: false,
    says: 'the request was unsigned: there is no --secret, HOOKS_SECRET or sharedSecret',
    fix: 'give the secret that the receiver verifies with: --secret-file FILE or HOOKS_SECRET; hooks test URL says more',
  },
  {
    code: 'signature-refused',
    status: [401, 403],
    isSigned: true,
    says: 'it rejects the signature or the sender',
    fix: 'check that sender and receiver have the same secret; hooks test URL finds out how the receiver verifies',
  },
  {
    code: 'rate-limit',
    kind: 'busy',
    status: [429],
    says: 'it limits the rate (429{wait})',
    fix: 'send more slowly (replay --rate), or try longer with --retry-for',
  },
  {
    code: 'gone',
    status: [410],
    says: 'the receiver is gone for good (410)',
    fix: 'ask its owner for the new URL',
  },
  {
    code: 'not-found',
    status: [404],
    says: 'there is nothing at {path}',
    fix: 'check the path of the URL',
  },
  {
    code: 'no-post',
    status: [405],
    says: 'it does not accept POST at {path}',
    fix: 'check the path of the URL: it must take POST',
  },
  {
    code: 'malformed',
    status: [400, 422],
    says: 'it does not accept the content of the message',
    fix: 'compare the message with what its validation expects; hooks test URL shows what the receiver expects',
  },
  {
    code: 'too-early',
    kind: 'busy',
    status: [408, 423, 425],
    says: '{status} means: try again later',
    fix: 'try longer with --retry-for',
  },
  {
    code: 'conflict',
    status: [409],
    says: 'it already has this message, or is processing it',
    fix: 'respond with 2xx to a known messageId: a message may arrive more than once',
  },
  {
    code: 'too-large',
    status: [413],
    says: 'it accepts only smaller bodies',
    fix: 'send smaller messages, or raise the limit of the receiver to 64 KB',
  },
  {
    code: 'uri-too-long',
    status: [414, 431, 494],
    says: 'the URL or the headers are too long for it',
    fix: 'send fewer or shorter headers (--header), or a shorter URL',
  },
  {
    code: 'media-type',
    status: [415],
    says: 'it does not accept application/json',
    fix: 'let the receiver accept Content-Type: application/json',
  },
  {
    code: 'not-implemented',
    status: [501, 505],
    says: 'the server does not know this method or version of HTTP ({status})',
    fix: 'check that the URL is the one of the receiver',
  },
  {
    code: 'bad-gateway',
    kind: 'busy',
    status: [502],
    says: '502: a proxy responds, not the receiver: the application behind it is not running, or closed the connection',
    fix: 'start the application, and check the address and port that the proxy forwards to',
  },
  {
    code: 'unavailable',
    kind: 'busy',
    status: [503],
    says: '503: the receiver, or a proxy in front of it, is not available now{wait}',
    fix: 'look into the log of the receiver, which failed; --retry-for tries longer',
  },
  {
    code: 'late',
    kind: 'busy',
    status: [504],
    says: '504: a proxy responds, not the receiver: the application behind it took too long',
    fix: 'let the receiver respond first and work later',
  },
  {
    code: 'full',
    kind: 'busy',
    status: [507],
    says: 'its disk or quota is full (507)',
    fix: 'make room on the machine of the receiver',
  },
  {
    code: 'portal',
    kind: 'way',
    status: [511],
    says: 'the network wants a login first (a captive portal)',
    fix: 'log in to the network with a browser',
  },
  {
    code: 'failed',
    status: [500],
    says: 'the receiver failed on the message',
    fix: 'look into the log of the receiver, which failed; --retry-for tries longer',
  },
]);

/** Makes the rule of a status that has no rule of its own, from the class of the status (5xx, 4xx, other). */
export function statusRule(status: number): CauseRule {
  const own = { code: 'status', kind: 'status' } as const;
  if (status >= 500) {
    return {
      ...own,
      says: '{status} means: try again later',
      fix: 'look into the log of the receiver, which failed; --retry-for tries longer',
    };
  }
  if (status >= 400) {
    const fix = "look into the receiver's log for the reason";
    return { ...own, says: '{status} means: do not try again', fix };
  }
  return { ...own, says: '{status} is not a response to a message', fix: 'respond with 2xx at this URL' };
}
