import { rulesOfKind } from './cause-rule.ts';

const NOT_RUNNING = 'start the application, and check the address and port that the proxy forwards to';

/** Proxies and load balancers that respond in place of the application, recognized by their headers and pages. */
export const GATEWAY_RULES = rulesOfKind('busy', [
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
    fix: 'exempt this path from it: ssl_verify_client optional, or another host name; the signature proves the sender',
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
    code: 'gateway-cloudflare-timeout',
    status: [524],
    says: '524: Cloudflare responds: the receiver took longer than Cloudflare waits, which is 100 s',
    fix: 'let the receiver respond first and work later',
  },
  {
    code: 'gateway-cloudflare-origin',
    status: [520, 521, 522, 523, 525, 526, 527, 530],
    says: '{status}: Cloudflare responds, not the receiver: it cannot reach or understand the server behind it',
    fix: 'check that the server runs, lets the addresses of Cloudflare in, and has a certificate (525, 526: SSL mode Full)',
  },
  {
    code: 'gateway-awselb-unhealthy',
    status: [503],
    headers: { server: /^awselb/i },
    says: '503: the AWS load balancer responds, not the receiver: its target group has no healthy target',
    fix: 'register a target, and let its health check pass',
  },
  {
    code: 'gateway-envoy',
    status: [502, 503, 504],
    body: /upstream connect error|no healthy upstream|upstream request timeout/,
    says: '{status}: the proxy (Envoy) responds, not the receiver: nothing healthy is behind it',
    fix: NOT_RUNNING,
  },
  {
    code: 'gateway-haproxy',
    status: [503],
    body: /No server is available to handle this request/,
    says: '503: the proxy (HAProxy) responds, not the receiver: no server behind it is up',
    fix: NOT_RUNNING,
  },
  {
    code: 'gateway-traefik',
    status: [503],
    body: /^no available server\s*$/,
    says: '503: the proxy (Traefik) responds, not the receiver: no server behind it is up',
    fix: NOT_RUNNING,
  },
  {
    code: 'gateway-varnish',
    status: [503],
    body: /Backend fetch failed|Guru Meditation/,
    says: '503: the cache (Varnish) responds, not the receiver: its backend does not respond',
    fix: NOT_RUNNING,
  },
  {
    code: 'gateway-laravel',
    status: [503],
    headers: { 'x-powered-by': /^PHP/ },
    body: /<title>Service Unavailable<\/title>/,
    says: '503: the PHP application says that it is not available{wait}; Laravel in maintenance mode does so',
    fix: 'end that mode: php artisan up',
  },
  {
    code: 'gateway-timeout',
    status: [504],
    headers: { server: /./ },
    says: '504: the proxy ({server}) responds, not the receiver: the application behind it took too long',
    fix: 'let the receiver respond first and work later',
  },
  {
    code: 'gateway-down',
    status: [502],
    headers: { server: /./ },
    says: '502: the proxy ({server}) responds, not the receiver: the application behind it is not running, or closed the connection',
    fix: NOT_RUNNING,
  },
  {
    code: 'gateway-unavailable',
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
    says: 'a file server ({server}) responds: it does not accept POST, and no application is routed at {path}',
    fix: 'check the path of the URL, and forward this path to the receiver (proxy_pass)',
  },
]);

const START = 'start the tunnel again and give its new URL: a free tunnel gets a new name each time';

/** Tunnels to the machine of a developer, which respond themselves if the receiver behind them does not. */
export const TUNNEL_RULES = rulesOfKind('way', [
  {
    code: 'tunnel-ngrok-app',
    body: /ERR_NGROK_80\d\d/,
    says: 'the ngrok tunnel is up, but nothing listens at its target port',
    fix: 'start the receiver, and ngrok with its port: ngrok http 3000',
  },
  {
    code: 'tunnel-ngrok-limit',
    body: /ERR_NGROK_(?:7\d\d|12\d)\b/,
    says: 'ngrok rejects the request: a limit of its plan is reached',
    fix: 'wait, or take another plan or tunnel',
  },
  {
    code: 'tunnel-ngrok-gateway',
    body: /ERR_NGROK_3004/,
    says: 'the ngrok tunnel is up, but its target gives no valid HTTP response',
    fix: 'check the target port of ngrok, and its protocol: ngrok http https://localhost:3000 for TLS',
  },
  {
    code: 'tunnel-ngrok-warning',
    body: /ERR_NGROK_6024/,
    says: 'ngrok shows its warning for browsers instead of passing the message on',
    fix: "send the header that skips it: --header 'ngrok-skip-browser-warning: 1'",
  },
  {
    code: 'tunnel-ngrok',
    body: /ERR_NGROK_3200|ngrok.{0,80}is offline/,
    says: 'the ngrok tunnel is not running',
    fix: START,
  },
  {
    code: 'tunnel-ngrok-header',
    headers: { 'ngrok-error-code': /ERR_NGROK_3200/ },
    says: 'the ngrok tunnel is not running',
    fix: START,
  },
  {
    code: 'tunnel-ngrok-other',
    headers: { 'ngrok-error-code': /ERR_NGROK_/ },
    says: 'ngrok responds with an error of its own, not the receiver{words}',
    fix: 'look its code up at https://ngrok.com/docs/errors/',
  },
  {
    code: 'tunnel-vscode',
    status: [401],
    headers: { 'www-authenticate': /^tunnel/i },
    says: 'the port of the dev tunnel is private',
    fix: 'make it public: in VS Code under Ports, Port Visibility, Public',
  },
  {
    code: 'tunnel-codespace',
    status: [302],
    headers: { location: /^https:\/\/github\.com\/codespaces\/auth/ },
    says: 'the port of the codespace is private, so it asks for a login at GitHub',
    fix: 'make it public: under Ports, Port Visibility, Public; or gh codespace ports visibility 3000:public',
  },
  {
    code: 'tunnel-cloudflare',
    status: [530],
    body: /\b1033\b/,
    says: 'the Cloudflare tunnel is not running (error 1033)',
    fix: 'start it: cloudflared tunnel run; a quick tunnel has a new URL each time',
  },
  {
    code: 'tunnel-localtunnel',
    body: /Tunnel Unavailable|no tunnel here|tunnel (?:is )?not (?:found|running)|Tunnel .{0,60}not found/i,
    says: 'the tunnel is not running',
    fix: START,
  },
  {
    code: 'tunnel-password',
    status: [401, 511],
    body: /tunnel password|loca\.lt|Tunnel website ahead/i,
    says: 'the tunnel shows a warning page that asks for a password instead of passing the message on',
    fix: "send the header that skips it: --header 'bypass-tunnel-reminder: 1'",
  },
]);
