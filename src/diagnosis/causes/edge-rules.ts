import { rulesOfKind } from './cause-rule.ts';

const FUNCTION = {
  says: 'the host responded in place of the function, which failed or returned no valid response',
  fix: 'look into the log of the function (CloudWatch, vercel logs, netlify logs, npx wrangler tail), and let it return { statusCode: 200, body: "" } or a Response',
};

/** Responses of systems in front of the application whose words do not name the cause. */
export const EDGE_RULES = rulesOfKind('way', 'proved', {
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
  'tunnel-warning': {
    body: /ERR_NGROK_6024|tunnel password|loca\.lt|Tunnel website ahead/i,
    says: 'the tunnel shows its warning for browsers instead of passing the message on',
    fix: "send the header that skips it: --header 'ngrok-skip-browser-warning: 1' or --header 'bypass-tunnel-reminder: 1'",
  },
  'tunnel-down': {
    body: /ERR_NGROK_3200|is offline|^error code: 1033|Tunnel Unavailable|no tunnel here|tunnel .{0,60}not (?:found|running)/i,
    says: 'the tunnel is not running',
    fix: 'start the tunnel again and give its new URL (a free tunnel gets a new name each time), or run it as a service: cloudflared tunnel run',
  },
  'tunnel-vscode': {
    status: [401],
    headers: { 'www-authenticate': /^tunnel/i },
    says: 'the port of the dev tunnel is private',
    fix: 'make it public: in VS Code under Ports, Port Visibility, Public',
  },
  'tunnel-codespace': {
    status: [302],
    headers: { location: /^https:\/\/github\.com\/codespaces\/auth/ },
    says: 'the port of the codespace is private, so it asks for a login at GitHub',
    fix: 'make it public: under Ports, Port Visibility, Public; or gh codespace ports visibility 3000:public',
  },
  'cloudflare-dns': {
    headers: { server: /cloudflare/i },
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
  'function-failed': {
    kind: 'busy',
    status: [500, 502, 503],
    words:
      /"errorType"\s*:\s*"[^"]*"\s*,\s*"errorMessage"|FUNCTION_INVOCATION_FAILED|decoding lambda response|status code returned from lambda|BODY_NOT_A_STRING_FROM_FUNCTION|Worker threw exception|error code: 110[12]\b/,
    ...FUNCTION,
  },
  'aws-http-api': {
    kind: 'busy',
    status: [500, 503],
    headers: { 'apigw-requestid': /./ },
    words: /^\s*\{"message":\s*"(?:Internal Server Error|Service Unavailable)"\}/i,
    ...FUNCTION,
  },
  'aws-function-url': { kind: 'busy', status: [502], headers: { 'x-amzn-requestid': /./ }, ...FUNCTION },
  'aws-lambda-response': {
    kind: 'busy',
    status: [502],
    words: /^\s*\{"message":\s*"Internal server error"\}\s*$/i,
    ...FUNCTION,
  },
});
