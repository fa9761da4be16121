import { rulesOfKind, type CauseRule } from './cause-rule.ts';

const ALLOW = 'allow POST to {path} there: a rule for this path, or for the addresses of the sender';

/** Makes the rule of a firewall whose response gives no reason. */
function firewall(name: string, rule: Omit<CauseRule, 'kind' | 'says' | 'fix'>): CauseRule {
  const says = `a firewall (${name}) rejects the request; the receiver never saw the message`;
  return { ...rule, kind: 'way', says, fix: ALLOW };
}

/** Firewalls, bot protection and limits that reject a request before the receiver sees it. */
export const FIREWALL_RULES = rulesOfKind('way', [
  {
    code: 'rate-limit-cloudflare',
    kind: 'busy',
    status: [429],
    headers: { server: /cloudflare/i },
    body: /\b1015\b/,
    says: 'Cloudflare limits the rate (429, error 1015{wait})',
    fix: 'except this path from its rate limiting rules, or send more slowly (replay --rate)',
  },
  {
    code: 'firewall-cloudflare-challenge',
    headers: { 'cf-mitigated': /challenge/ },
    says: 'Cloudflare asks for proof of a human (a challenge, {status}); the receiver never saw the message',
    fix: 'skip Bot Fight Mode, managed challenges and WAF rules for POST to {path}',
  },
  {
    code: 'firewall-cloudflare-page',
    status: [403, 503],
    body: /Attention Required! \| Cloudflare|<title>Just a moment\.\.\.|error code: 10(?:06|07|08|09|10|20)\b|Sorry, you have been blocked/,
    says: 'Cloudflare blocks the request ({status}); the receiver never saw the message',
    fix: 'skip Bot Fight Mode, managed challenges and WAF rules for POST to {path}',
  },
  {
    code: 'cloudflare-worker',
    kind: 'receiver',
    status: [500, 503],
    headers: { server: /cloudflare/i },
    body: /Worker threw exception|error code: 110[12]\b/,
    says: 'the Cloudflare Worker failed, or exceeded its limits',
    fix: 'look into its log (npx wrangler tail), and repair it',
  },
  {
    code: 'cloudflare-dns',
    headers: { server: /cloudflare/i },
    body: /\berror (?:code: )?10(?:00|01|04|16)\b|Origin DNS error/i,
    says: 'Cloudflare responds, not the receiver: its DNS record leads nowhere, or to Cloudflare itself',
    fix: 'correct the DNS record of {hostname} at Cloudflare: it must name the server of the receiver',
  },
  {
    code: 'login-cloudflare-access',
    status: [302, 303, 307],
    headers: { location: /cloudflareaccess\.com/ },
    says: 'Cloudflare Access asks for a login; the receiver never saw the message',
    fix: "add a bypass policy for {path}, or send a service token: --header 'CF-Access-Client-Id: …' --header 'CF-Access-Client-Secret: …'",
  },
  firewall('Akamai', { code: 'firewall-akamai', status: [403], headers: { server: /AkamaiGHost/i } }),
  firewall('Akamai', {
    code: 'firewall-akamai-page',
    status: [403],
    body: /errors\.edgesuite\.net|Access Denied[\s\S]{0,600}Reference #\d+\./,
  }),
  {
    code: 'firewall-aws',
    status: [403],
    headers: { server: /^awselb/i },
    says: 'the AWS load balancer rejects the request (its WAF or a listener rule); the receiver never saw the message',
    fix: `${ALLOW}; the rule AWSManagedRulesCommonRuleSet SizeRestrictions_BODY stops bodies over 8 KB`,
  },
  {
    code: 'firewall-cloudfront-method',
    status: [403],
    headers: { server: /CloudFront/i },
    body: /not configured to allow the HTTP request method/,
    says: 'CloudFront does not forward POST',
    fix: 'allow GET, HEAD, OPTIONS, PUT, POST, PATCH and DELETE in the behavior of this path',
  },
  {
    code: 'firewall-cloudfront',
    status: [403],
    headers: { server: /CloudFront/i },
    says: 'CloudFront rejects the request (AWS WAF, a signed URL or a geo restriction); the receiver never saw the message',
    fix: ALLOW,
  },
  firewall('Imperva', { code: 'firewall-imperva', body: /Incapsula incident ID|_Incapsula_Resource/ }),
  firewall('Sucuri', { code: 'firewall-sucuri', status: [403], body: /Sucuri (?:WebSite|Website) Firewall/ }),
  firewall('F5', {
    code: 'firewall-f5',
    body: /The requested URL was rejected\. Please consult with your administrator/,
  }),
  {
    code: 'firewall-azure',
    status: [403],
    headers: { server: /Microsoft-Azure-Application-Gateway/i },
    says: 'the Azure Application Gateway rejects the request (its WAF); the receiver never saw the message',
    fix: ALLOW,
  },
  {
    code: 'firewall-azure-front-door',
    status: [403],
    headers: { 'x-azure-ref': /./ },
    says: 'Azure Front Door rejects the request (its WAF); the receiver never saw the message',
    fix: ALLOW,
  },
  {
    code: 'firewall-modsecurity',
    status: [403, 406],
    body: /Mod_?Security|Not Acceptable!/i,
    says: 'a firewall (ModSecurity) rejects the content of the request',
    fix: 'turn off the rule for {path}: SecRuleRemoveById, or SecRuleEngine Off for this location',
  },
  {
    code: 'firewall-nginx',
    status: [403],
    body: /<center>(?:nginx|openresty)/,
    says: 'the proxy ({server}) rejects the request by a rule of its own, or serves files at {path}; the receiver never saw the message',
    fix: 'look into its error.log, and let this path through: no deny, and proxy_pass in its location',
  },
  {
    code: 'firewall-squid',
    headers: { 'x-squid-error': /^ERR_ACCESS_DENIED/ },
    says: 'a proxy (Squid) does not allow the request; the receiver never saw the message',
    fix: 'allow {host} there, or go direct: NO_PROXY={hostname}',
  },
  {
    code: 'proxy-squid-dns',
    headers: { 'x-squid-error': /^ERR_DNS_FAIL/ },
    says: '{status}: a proxy (Squid) responds, not the receiver: it finds no address for {hostname}',
    fix: 'check the host name; a proxy does not know the names on this machine: NO_PROXY={hostname} goes direct',
  },
  {
    code: 'proxy-responds',
    kind: 'busy',
    status: [500, 502, 503, 504],
    headers: { server: /^(?:squid|tinyproxy|mitmproxy)\b/i },
    says: '{status}: a proxy ({server}) responds, not the receiver: it could not pass the request on to {host}',
    fix: 'check the host and port of the URL, or go direct: NO_PROXY={hostname}',
  },
]);
