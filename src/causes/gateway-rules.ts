import type { CauseRule } from './cause-rule.ts';

const NOT_RUNNING =
  'start the application, and check the address and port that the proxy passes requests on to';

/** Proxies and load balancers that respond in place of the application, by what they are known to say. */
export const GATEWAY_RULES: readonly CauseRule[] = [
  {
    code: 'wants-tls',
    kind: 'way',
    status: [400],
    body: /plain HTTP request was sent to HTTPS port|HTTP request to an HTTPS server|speaking plain HTTP to an SSL-enabled/,
    says: 'the port speaks TLS, and the request was plain HTTP',
    fix: 'give the URL with https://{host}{path}',
  },
  {
    code: 'wants-client-certificate',
    kind: 'way',
    status: [400, 403, 495, 496],
    body: /No required SSL certificate was sent|SSL Certificate Required|client certificate/i,
    says: 'it wants a client certificate (mutual TLS), which webhooks do not have',
    fix: 'let this path in without one: ssl_verify_client optional, or another host name; the signature proves the sender',
  },
  {
    code: 'gateway-cloudflare-origin',
    kind: 'busy',
    status: [520, 521, 522, 523, 524, 525, 526, 527, 530],
    says: '{status}: Cloudflare responds, not the receiver: it cannot reach or understand the server behind it',
    fix: 'check that the server runs, lets the addresses of Cloudflare in, and has a certificate (525, 526: SSL mode Full)',
  },
  {
    code: 'gateway-awselb-unhealthy',
    kind: 'busy',
    status: [503],
    headers: { server: /^awselb/i },
    says: '503: the AWS load balancer responds, not the receiver: its target group has no healthy target',
    fix: 'register a target, and let its health check pass',
  },
  {
    code: 'gateway-envoy',
    kind: 'busy',
    status: [502, 503, 504],
    body: /upstream connect error|no healthy upstream|upstream request timeout/,
    says: '{status}: the proxy (Envoy) responds, not the receiver: nothing healthy is behind it',
    fix: NOT_RUNNING,
  },
  {
    code: 'gateway-haproxy',
    kind: 'busy',
    status: [503],
    body: /No server is available to handle this request/,
    says: '503: the proxy (HAProxy) responds, not the receiver: no server behind it is up',
    fix: NOT_RUNNING,
  },
  {
    code: 'gateway-varnish',
    kind: 'busy',
    status: [503],
    body: /Backend fetch failed|Guru Meditation/,
    says: '503: the cache (Varnish) responds, not the receiver: its backend does not respond',
    fix: NOT_RUNNING,
  },
  {
    code: 'gateway-timeout',
    kind: 'busy',
    status: [504],
    headers: { server: /./ },
    says: '504: the proxy ({server}) responds, not the receiver: the application behind it took too long',
    fix: 'let the receiver respond first and work later',
  },
  {
    code: 'gateway-down',
    kind: 'busy',
    status: [502],
    headers: { server: /./ },
    says: '502: the proxy ({server}) responds, not the receiver: the application behind it is not running, or broke off',
    fix: NOT_RUNNING,
  },
  {
    code: 'gateway-unavailable',
    kind: 'busy',
    status: [503],
    headers: { server: /nginx|Apache|Caddy|IIS|HTTPAPI|openresty|Traefik|envoy|Google/i },
    says: '503: the proxy ({server}) responds, not the receiver{wait}: nothing is available behind it',
    fix: NOT_RUNNING,
  },
  {
    code: 'static-server',
    kind: 'way',
    status: [405],
    headers: { server: /^(?:nginx|GitHub\.com|AmazonS3|Apache|Netlify|Caddy)/i },
    says: 'a server of files ({server}) responds: it takes no POST, and no application is routed at {path}',
    fix: 'check the path of the URL, and pass this path on to the receiver (proxy_pass)',
  },
];
