import { rulesOfKind, type CauseRule } from './cause-rule.ts';

/** Rules for systems that respond in place of the application: TLS servers, tunnels, CDNs, gateways, function hosts. */
const EDGE_RULES = rulesOfKind('way', 'proved', {
  'wants-tls': {
    status: [400],
    words:
      /plain HTTP request was sent to HTTPS port|HTTP request to an HTTPS server|speaking plain HTTP to an SSL-enabled/,
    says: 'the port speaks TLS, and the request was plain HTTP',
    fix: 'give the URL with https://{host}{path}',
  },
  'wants-client-certificate': {
    status: [400, 403, 495, 496],
    words: /No required SSL certificate was sent|SSL Certificate Required|client certificate/i,
    says: 'it wants a client certificate (mutual TLS), which webhooks do not have',
    fix: 'exempt this path from it: ssl_verify_client optional, or another host name; the signature proves the sender',
  },
  'tunnel-target': {
    body: /ERR_NGROK_(?:80\d\d|3004)/,
    says: 'the ngrok tunnel is up, but no HTTP server listens at its target port',
    fix: 'start the receiver, and ngrok with its port: ngrok http 3000, or ngrok http https://localhost:3000 for TLS',
  },
  'tunnel-down': {
    body: /ERR_NGROK_3200|is offline|^error code: 1033|Tunnel Unavailable|no tunnel here|tunnel .{0,60}not (?:found|running)/i,
    says: 'the tunnel is not running',
    fix: 'start the tunnel again and give its new URL (a free tunnel gets a new name each time), or run it as a service: cloudflared tunnel run',
  },
  'cloudflare-dns': {
    headers: /^server: cloudflare/im,
    body: /\berror (?:code: )?10(?:00|01|04|16)\b|Origin DNS error/i,
    says: 'Cloudflare responded in place of the application: its DNS record leads nowhere, or to Cloudflare itself',
    fix: 'correct the DNS record of {hostname} at Cloudflare: it must name the server of the receiver',
  },
  'aws-no-route': {
    status: [403],
    words: /Missing Authentication Token/,
    says: 'AWS API Gateway has no route for POST {path} (it calls that a missing authentication token)',
    fix: 'check the path and the method of the route, and the stage in the URL',
  },
});

/** Rules for responses from a framework, which usually rejected the request before the receiver's own code ran. */
const FRAMEWORK_RULES = rulesOfKind('way', 'likely', {
  csrf: {
    status: [400, 401, 403, 419, 422, 500],
    words:
      /^(?![\s\S]*(?:signature|hmac))[\s\S]*(?:(?:csrf|xsrf|anti-?forgery)[^.\n"]{0,40}\b(?:missing|invalid|mismatch|fail|required|incorrect|wrong|expired|absent|not|token, please)|\b(?:missing|invalid|bad|wrong|no|required|mismatch(?:ed)?)\b[^.\n"]{0,30}(?:csrf|xsrf|anti-?forgery)|EBADCSRFTOKEN|Cross-site POST|CSRF verification failed|InvalidAuthenticityToken|verify (?:the provided )?CSRF token|The change you wanted was rejected|Page Expired)/i,
    says: 'the framework wants a CSRF token, which only forms on its own pages have',
    fix: 'exempt this route from the CSRF protection: Django @csrf_exempt (DRF also authentication_classes = []), Laravel validateCsrfTokens(except: [\'{path}\']), Rails skip_forgery_protection, Spring csrf(c -> c.ignoringRequestMatchers("{path}")), Flask-WTF @csrf.exempt, Express and Phoenix a route before that middleware',
  },
  hosts: {
    status: [400, 403, 421, 500],
    words:
      /Invalid HTTP_HOST header|Blocked hosts?:|Blocked request\. This host|invalid host header|host not allowed|Host .{0,80} is not allowed(?! to connect)|Misdirected Request|Invalid Hostname|^\s*Bad Request \(400\)\s/i,
    says: 'the server does not accept requests for the host that it was asked for: {hostname}, where no proxy changes it',
    fix: 'add it to the hosts that the server allows (Django ALLOWED_HOSTS, Rails config.hosts, Vite server.allowedHosts, TrustedHostMiddleware, server_name); a name with an underscore is never valid',
  },
  permission: {
    kind: 'status',
    status: [401, 403],
    words:
      /^\s*\{"timestamp":"[^"]{10,40}","status":40[13],"error":"(?:Forbidden|Unauthorized)"(?:,"message":"[^"]{0,40}")?,"path":|You do not have permission to perform this action|"rest_(?:forbidden|cannot_\w+|not_logged_in)"/,
    says: 'the framework rejects the request by its own rules (permissions, CSRF protection), or the receiver itself does',
    fix: "let everyone in, since the signature protects the route: Spring csrf(c -> c.ignoringRequestMatchers(\"{path}\")) and authorizeHttpRequests permitAll, Django permission_classes = [AllowAny], WordPress 'permission_callback' => '__return_true'; else look into its log for what rejects the request",
  },
  'fastapi-query': {
    kind: 'status',
    status: [422],
    words: /"loc":\s*\["query"/,
    says: 'FastAPI looks for a parameter of the handler in the query of the URL{quote}',
    fix: 'declare where each parameter is: the message as the body (payload: dict = Body(), or await request.body()), the signature as a header (x_signature: str = Header())',
  },
});

export const FRONT_RULES: readonly CauseRule[] = [...EDGE_RULES, ...FRAMEWORK_RULES];
