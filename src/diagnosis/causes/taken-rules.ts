import type { ResponseEvidence } from '../../transport/cause.ts';
import { appliesTo, type CauseRule } from './cause-rule.ts';
import { FIREWALL_RULES } from './firewall-rules.ts';
import { isHtmlPage } from './response-words.ts';
import { TUNNEL_RULES } from './gateway-rules.ts';

/** What the body of a 2xx says against its status. A sender looks at the status alone, so that only `hooks test` reads it. */
export const TAKEN_RULES: readonly CauseRule[] = [
  {
    code: 'status-in-body',
    kind: 'receiver',
    body: /^\s*\{[^{}]{0,400}"(?:statusCode|status_code|status|code)"\s*:\s*"?[45]\d\d\b/,
    says: 'it responds with {status}, and another status in the body: to a sender the message is taken',
    fix: 'respond with that status itself (API Gateway: Lambda proxy integration)',
  },
  {
    code: 'error-in-body',
    kind: 'receiver',
    body: /^\s*\{\s*(?:"[\w-]{1,40}"\s*:\s*(?:"[^"]{0,100}"|\w{1,20}|\[\]|\{\})\s*,\s*){0,6}"(?:(?:error|errors|error_message|exception)"\s*:\s*(?!null\b|false\b|0\b|""|\[\s*\]|\{\s*\})|(?:success|ok)"\s*:\s*false\b|(?:status|result)"\s*:\s*"(?:error|fail(?:ed|ure)?|rejected|refused|invalid|unauthorized|denied)")/i,
    says: 'it responds with {status}, and an error in the body: to a sender the message is taken',
    fix: 'respond with 401 where the signature is wrong, with another 4xx to what else is rejected, and with 5xx to what failed: senders look at the status only',
  },
  {
    code: 'words-in-body',
    kind: 'receiver',
    body: /^\W{0,3}(?:error\W{1,3})?(?:invalid|bad|wrong|missing) (?:signature|hmac|digest|token)\b|^\W{0,3}error: \S/i,
    says: 'it responds with {status}, and an error in the body{words}: to a sender the message is taken',
    fix: 'respond with 401 where the signature is wrong, with another 4xx or 5xx to other errors: senders look at the status only',
  },
  {
    code: 'trace-in-body',
    kind: 'receiver',
    body: /<b>(?:Warning|Fatal error|Parse error|Notice)<\/b>:|^(?:PHP )?(?:Warning|Fatal error|Parse error): |Traceback \(most recent call last\)/,
    says: 'it responds with {status}, and an error of its program in the body: to a sender the message is taken',
    fix: 'repair the error, and let the receiver respond with 500 when it fails (PHP: display_errors=0, http_response_code(500))',
  },
  {
    code: 'source-in-body',
    kind: 'way',
    body: /^(?:#![^\n]{0,80}\n)?\s*<\?(?:php\b|=)/i,
    says: 'the source text of a PHP program comes back: the server sends the file instead of running it',
    fix: 'let the server run PHP: php -S localhost:8000, or PHP-FPM (nginx: fastcgi_pass; Apache: mod_php)',
  },
  {
    code: 'listing-in-body',
    kind: 'way',
    body: /<title>(?:Index of \/|Directory listing for )/i,
    says: 'the list of a folder comes back: a server of files responds, not the receiver',
    fix: 'give the URL of the receiver, and start its program',
  },
];

/** Firewalls and tunnels whose page is known whatever its status. */
const RULES_OF_PAGES = [...TUNNEL_RULES, ...FIREWALL_RULES].filter(
  ({ status, body }) => status === undefined && body !== undefined,
);

const LOGIN_PAGE: CauseRule = {
  code: 'login-page',
  kind: 'way',
  body: /type=["']?password|<title>[^<]{0,60}(?:log ?in|sign ?in)/i,
  says: 'a login page responds, not the receiver',
  fix: 'exempt {path} from the login: the signature proves the sender',
};

const PAGE: CauseRule = {
  code: 'page',
  kind: 'way',
  says: 'an HTML page responds where a receiver responds with a few words: the URL is that of a website, not of the receiver',
  fix: 'give the URL of the receiver: a website (single-page application, parking page) responds with 200 at every path',
};

/** Pages of a browser, which no sender reads. */
export const PAGE_RULES: readonly CauseRule[] = [LOGIN_PAGE, PAGE];

/** Recognizes a 2xx that its own body contradicts; gives the code. */
export function takenCauseCode(evidence: ResponseEvidence): string | undefined {
  const found = TAKEN_RULES.find((rule) => appliesTo(rule, evidence));
  if (found !== undefined) return found.code;
  if (!isHtmlPage(evidence.body)) return undefined;
  const ofWay = RULES_OF_PAGES.find((rule) => appliesTo(rule, evidence));
  if (ofWay !== undefined) return ofWay.code;
  return (appliesTo(LOGIN_PAGE, evidence) ? LOGIN_PAGE : PAGE).code;
}
