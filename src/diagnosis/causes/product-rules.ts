import { headerLines, type CauseRule, type ReadResponse } from './cause-rule.ts';

/**
 * Products in front of applications: the code of the cause, the name of the product, and a pattern for responses that
 * the product itself makes: status and headers, one a line, an empty line, and the body. The first matching row decides.
 */
const PRODUCTS: readonly (readonly [code: string, name: string, pattern: RegExp])[] = [
  [
    'function-failed',
    'the host of the function',
    /^50[023]\b[\s\S]*(?:"errorType"\s*:\s*"[^"]*"\s*,\s*"errorMessage"|FUNCTION_INVOCATION_FAILED|decoding lambda response|status code returned from lambda|BODY_NOT_A_STRING_FROM_FUNCTION|Worker threw exception|error code: 110[12]\b|\n(?:apigw-requestid|x-amzn-requestid|x-amzn-errortype): [\s\S]*\n\n\s*(?:\{"message":\s*"(?:Internal Server Error|Service Unavailable)"\}|Internal Server Error)?\s*$)/i,
  ],
  ['firewall-cloudflare', 'Cloudflare', /^cf-mitigated: challenge/m],
  ['firewall-akamai', 'the firewall of Akamai', /^server: AkamaiGHost/im],
  ['firewall-cloudfront', 'CloudFront', /^server: CloudFront/im],
  ['balancer-aws', 'the AWS load balancer', /^server: awselb/im],
  ['host-aws', 'AWS API Gateway', /^x-amzn-errortype: /m],
  ['host-files', 'a file server or bucket', /^server: (?:GitHub\.com|AmazonS3)/im],
  ['proxy-forward', 'the proxy ({server})', /^server: (?:squid|tinyproxy|mitmproxy)\b/im],
  ['tunnel-ngrok', 'ngrok', /^ngrok-error-code: /m],
  ['proxy-nginx', 'nginx', /<center>(?:nginx|openresty)/],
  [
    'proxy-apache',
    'Apache',
    /<address>Apache|\n\n<!DOCTYPE HTML PUBLIC [^>]*>\s*<html><head>\s*<title>\d{3} /,
  ],
  [
    'proxy-haproxy',
    'HAProxy',
    /No server is available to handle|<\/h1>\s*(?:The server (?:didn't|ret)|Request forb)/,
  ],
  ['proxy-envoy', 'Envoy', /\n\n(?:upstream connect error|no healthy upstream|upstream request timeout)/],
  ['proxy-traefik', 'Traefik', /\n\nno available server\s*$/],
  ['proxy-varnish', 'Varnish', /Backend fetch failed|Guru Meditation/],
  ['proxy-ingress', 'the Kubernetes ingress', /\n\ndefault backend - 404/],
  [
    'firewall-cloudflare',
    'Cloudflare',
    /\| Cloudflare<|<title>Just a moment|cf-error-details|\n\nerror code: \d+\s*$/,
  ],
  ['firewall-imperva', 'the firewall of Imperva', /Incapsula incident ID|_Incapsula_Resource/],
  ['host-google', 'Google Cloud', /does not have permission to get URL|The request was not authenti/],
  ['host-heroku', 'Heroku', /herokucdn\.com\/error-pages/],
  ['host-vercel', 'the deployment protection of Vercel', /vercel\.com\/sso-api|Vercel Authentication/],
];
/** Causes that only the status shows, so they are only likely. The statuses 520 to 530 are Cloudflare's own. */
const BY_STATUS: Readonly<Record<number, string>> = { 502: 'bad-gateway', 504: 'late' };
const LIKELY = new Set(Object.values(BY_STATUS));

const RULE = 'never saw the message: a rule there rejects the request';
const UNREACHED = 'it did not reach, or which closed the connection';

/**
 * Ends of the sentence "PRODUCT responded in place of the application, which …", each with a fix: by product and status,
 * else by product, else by status. `500` stands for every other 5xx, `0` for every other status.
 */
const REASONS: Readonly<Record<string, readonly [end: string, fix: string]>> = {
  'proxy-nginx 503': [
    'did not get the message{wait}: there are too many requests (limit_req), or no instance of it is ready',
    'raise the limit of requests (nginx: limit_req) or send more slowly (replay --rate); without a limit, start the application (Kubernetes: look whether its pods are ready)',
  ],
  'proxy-forward': [
    'never saw the message: the proxy rejected it, or could not reach {host}',
    'check the host and port of the URL, allow {host} there, or go direct: NO_PROXY={hostname}',
  ],
  'firewall-cloudflare 403': [
    RULE,
    'skip Bot Fight Mode, managed challenges and WAF rules for POST to {path}',
  ],
  'firewall-cloudflare 502': [
    UNREACHED,
    'check that the server runs, lets the addresses of Cloudflare in, and has a certificate (525, 526: SSL mode Full)',
  ],
  'function-failed': [
    'failed or returned no valid response',
    'look into the log of the function (CloudWatch, vercel logs, netlify logs, npx wrangler tail), and let it return { statusCode: 200, body: "" } or a Response',
  ],
  'host-aws 403': [
    RULE,
    "exempt this route from authorization (authType NONE), or send what AWS wants: --header 'x-api-key: …'",
  ],
  'host-google': [
    RULE,
    'allow unauthenticated invocations (roles/run.invoker for allUsers): the signature proves the sender',
  ],
  'host-heroku 503': [
    'is not running, took longer than 30 s, or is in maintenance',
    'look into heroku logs --tail; heroku ps:scale web=1 starts it, and heroku maintenance:off ends its maintenance',
  ],
  'host-vercel': [
    RULE,
    "give the URL of production, or the bypass: --header 'x-vercel-protection-bypass: …'",
  ],
  0: [
    RULE,
    'allow POST to {path} there: a rule for this path, or for the addresses of the sender, or for the host {hostname}; hooks test URL shows whether the User-Agent decides',
  ],
  404: [
    'never saw the message: no route there leads to {path}',
    'add a rule for {host}{path} to its routes (the ingress, the gateway), and apply it (nginx: server_name and location)',
  ],
  405: [
    'never saw the message: files are served at {path}',
    'check the path of the URL, and forward this path to the receiver (proxy_pass)',
  ],
  413: [
    'never saw the message: only smaller bodies are accepted there',
    'raise its limit on bodies to 64 KB (nginx: client_max_body_size)',
  ],
  429: [
    'never saw the message: the rate is limited there{wait}',
    'except this path from its rate limiting rules, or send more slowly (replay --rate)',
  ],
  500: ['failed or was not reached', 'look into its log'],
  502: [
    UNREACHED,
    'check that the application runs (look into its log), and where the proxy forwards to (nginx: proxy_pass): the address, the port, and http:// or https:// as the application speaks; in a container, localhost is the container itself',
  ],
  503: [
    'is not available to it{wait}: no instance of it is ready, or the connection to it failed, or no rule leads to {path}',
    'look whether the application runs; if it does, let it respond with 2xx to the health check of the proxy, and check the address and port that the proxy forwards to',
  ],
  504: ['took too long', 'let the receiver respond first and work later'],
};

export function productRule({ status, headers, body }: ReadResponse): CauseRule | undefined {
  if (isFromProxy(headers)) return productRuleOf('proxy-forward', status);
  const response = `${status}\n${headerLines(headers)}\n\n${body}`;
  const [code] = PRODUCTS.find(([, , pattern]) => pattern.test(response)) ?? [];
  const isJson = /^\s*[[{]/.test(body); // from an application
  const likely = status >= 520 && status <= 530 ? 'firewall-cloudflare' : BY_STATUS[isJson ? 0 : status];
  return productRuleOf(code ?? likely ?? '', status);
}

/** Whether the forward proxy itself responded: the name in `Server` contains "proxy" or also appears in `Via`. */
function isFromProxy({ ':forwarded': forwarded, via = '', server = '' }: ReadResponse['headers']): boolean {
  const name = /^[^/ ]+/.exec(server.toLowerCase())?.[0];
  if (forwarded === undefined || name === undefined) return false;
  return name.includes('proxy') || via.toLowerCase().includes(name);
}

export function productRuleOf(code: string, status: number): CauseRule | undefined {
  const isLikely = LIKELY.has(code);
  const name = isLikely ? 'a proxy ({server})' : PRODUCTS.find(([own]) => own === code)?.[1];
  if (name === undefined) return undefined;
  const group = status === 524 ? 504 : status >= 520 ? 502 : status;
  const keys = [`${code} ${group}`, code, `${group}`, status >= 500 ? '500' : '0'];
  const [end, fix] = keys.map((key) => REASONS[key]).find((reason) => reason !== undefined) ?? ['', ''];
  return {
    code,
    kind: status === 429 || status >= 500 ? 'busy' : status === 413 ? 'receiver' : 'way',
    confidence: isLikely || status >= 520 ? 'likely' : 'proved',
    says: `${name} responded in place of the application, which ${end}`,
    fix,
  };
}
