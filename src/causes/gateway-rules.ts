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
    code: 'headers-too-long',
    kind: 'way',
    status: [400],
    body: /Request Header Or Cookie Too Large/i,
    says: 'the URL or the headers are too long for it',
    fix: 'send fewer or shorter headers (--header), or a shorter URL',
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
    code: 'gateway-traefik',
    kind: 'busy',
    status: [503],
    body: /^no available server\s*$/,
    says: '503: the proxy (Traefik) responds, not the receiver: no server behind it is up',
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
    says: '503: the proxy ({server}) responds, not the receiver{wait}: nothing is available behind it, or its limit of requests is reached (nginx: limit_req)',
    fix: `${NOT_RUNNING}; where it runs, raise that limit`,
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

const START = 'start the tunnel again and give its new URL: a free one has another name each time';

/** Tunnels that lead to a machine of a developer: the tunnel responds, nothing is behind it. */
export const TUNNEL_RULES: readonly CauseRule[] = [
  {
    code: 'tunnel-ngrok-app',
    kind: 'way',
    body: /ERR_NGROK_80\d\d/,
    says: 'the ngrok tunnel is up, but nothing listens at the port that it leads to',
    fix: 'start the receiver, and ngrok with its port: ngrok http 3000',
  },
  {
    code: 'tunnel-ngrok-limit',
    kind: 'way',
    body: /ERR_NGROK_(?:7\d\d|12\d)\b/,
    says: 'ngrok refuses: a limit of its plan is reached',
    fix: 'wait, or take another plan or tunnel',
  },
  {
    code: 'tunnel-ngrok-gateway',
    kind: 'way',
    body: /ERR_NGROK_3004/,
    says: 'the ngrok tunnel is up, but what it leads to gives no valid HTTP response',
    fix: 'check the port that ngrok has, and its protocol: ngrok http https://localhost:3000 for TLS',
  },
  {
    code: 'tunnel-ngrok-warning',
    kind: 'way',
    body: /ERR_NGROK_6024/,
    says: 'ngrok shows its warning for browsers instead of passing the message on',
    fix: "send the header that it asks for: --header 'ngrok-skip-browser-warning: 1'",
  },
  {
    code: 'tunnel-ngrok',
    kind: 'way',
    body: /ERR_NGROK_3200|ngrok.{0,80}is offline/,
    says: 'the ngrok tunnel is not running',
    fix: START,
  },
  {
    code: 'tunnel-ngrok-header',
    kind: 'way',
    headers: { 'ngrok-error-code': /ERR_NGROK_3200/ },
    says: 'the ngrok tunnel is not running',
    fix: START,
  },
  {
    code: 'tunnel-ngrok-other',
    kind: 'way',
    headers: { 'ngrok-error-code': /ERR_NGROK_/ },
    says: 'ngrok responds with an error of its own, not the receiver{words}',
    fix: 'look its code up at https://ngrok.com/docs/errors/',
  },
  {
    code: 'tunnel-cloudflare',
    kind: 'way',
    status: [530],
    body: /\b1033\b/,
    says: 'the Cloudflare tunnel is not running (error 1033)',
    fix: 'start it: cloudflared tunnel run; a quick tunnel has a new URL each time',
  },
  {
    code: 'tunnel-localtunnel',
    kind: 'way',
    body: /Tunnel Unavailable|no tunnel here|tunnel (?:is )?not (?:found|running)|Tunnel .{0,60}not found/i,
    says: 'the tunnel is not running',
    fix: START,
  },
  {
    code: 'tunnel-password',
    kind: 'way',
    status: [401, 511],
    body: /tunnel password|loca\.lt|Tunnel website ahead/i,
    says: 'the tunnel shows a warning page that asks for a password instead of passing the message on',
    fix: "send the header that it asks for: --header 'bypass-tunnel-reminder: 1'",
  },
];
