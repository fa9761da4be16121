import { appliesTo, rulesOfKind, type CauseRule, type ReadResponse } from './cause-rule.ts';
import { FRONT_RULES } from './front-rules.ts';
import { isHtmlPage } from './page-blocks.ts';
import { productRule } from './product-rules.ts';

/** Rules for 2xx responses whose body reports a failure, which senders miss, because they look only at the status. */
export const TAKEN_RULES = rulesOfKind('receiver', 'proved', {
  'error-in-body': {
    body: /^(?![\s\S]*"(?:success|ok)"\s*:\s*true\b|[\s\S]*"(?:status|result|message)"\s*:\s*"(?:ok|success|accepted)")\s*\{\s*(?:"[\w-]{1,40}"\s*:\s*(?:"[^"]{0,100}"|\w{1,20}|\[\]|\{\})\s*,\s*){0,6}"(?:(?:error|errors|error_message|exception)"\s*:\s*(?!null\b|false\b|0\b|"(?:none|no|n\/a|ok|0[^"]*)?"|\[\s*\]|\{\s*\})|(?:success|ok)"\s*:\s*false\b|(?:status_?code|status|code)"\s*:\s*"?[45]\d\d\b(?=[\s\S]*"(?:error|message|detail|reason|body)")|(?:status|result)"\s*:\s*"(?:error|fail(?:ed|ure)?|rejected|refused|invalid|unauthorized|denied)")/i,
    says: 'it responds with {status}, and an error in the body{quote}: senders count the message as delivered',
    fix: 'respond with 401 where the signature is wrong, with another 4xx to other rejections, and with 5xx to failures: senders look only at the status (API Gateway: use the Lambda proxy integration)',
  },
  'words-in-body': {
    body: /^\W{0,3}(?:error\W{1,3})?(?:(?:invalid|bad|wrong|missing|no (?:valid|matching)) (?:signature|hmac|digest|token)|(?:signature|hmac|digest) (?:verification |check )?(?:is |was )?(?:invalid|mismatch|missing|failed|wrong|not valid|(?:does|did) not match))\b|^\W{0,3}error: (?!none\b|null\b|no\b|0\b|false\b|ok\b)\S/i,
    says: 'it responds with {status}, and an error in the body{quote}: senders count the message as delivered',
    fix: 'respond with 401 where the signature is wrong, with another 4xx or 5xx to other errors: senders look only at the status',
  },
  'trace-in-body': {
    body: /<b>(?:Warning|Fatal error|Parse error|Notice)<\/b>:|^(?:PHP )?(?:Warning|Fatal error|Parse error): |Traceback \(most recent call last\)/,
    says: 'it responds with {status}, and an error of its program in the body: senders count the message as delivered',
    fix: 'repair the error, and let the receiver respond with 500 when it fails (PHP: display_errors=0, http_response_code(500))',
  },
});

/** Rules for HTML pages with a 2xx, which usually come from a website, not a receiver. The last fits every page. */
export const PAGE_RULES = rulesOfKind('way', 'likely', {
  'login-page': {
    body: /type=["']?password|<title>[^<]{0,60}(?:log ?in|sign ?in)/i,
    says: 'a login page responds, not the receiver',
    fix: 'exempt {path} from the login: the signature proves the sender',
  },
  page: {
    confidence: 'possible',
    says: 'an HTML page responds where a receiver responds with a few words: the URL is that of a website, not of the receiver',
    fix: 'give the URL of the receiver: a website (single-page application, parking page) responds with 200 at every path',
  },
});

/** Rules for error pages of tunnels and of Cloudflare, which are recognized by their body at any status. */
const TUNNEL_PAGES = FRONT_RULES.filter(({ status, body }) => status === undefined && body !== undefined);

export function takenRule(seen: ReadResponse): CauseRule | undefined {
  const rule = TAKEN_RULES.find((each) => appliesTo(each, seen));
  if (rule !== undefined || !isHtmlPage(seen.body)) return rule;
  const pageRule = [...TUNNEL_PAGES, ...PAGE_RULES].find((each) => appliesTo(each, seen));
  return pageRule?.code === 'page' ? (productRule(seen) ?? pageRule) : pageRule;
}
