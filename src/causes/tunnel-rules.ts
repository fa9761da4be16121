import type { CauseRule } from './cause-rule.ts';

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
    code: 'tunnel-ngrok',
    kind: 'way',
    body: /ERR_NGROK_\d+|ngrok.{0,80}is offline/,
    says: 'the ngrok tunnel is not running',
    fix: START,
  },
  {
    code: 'tunnel-ngrok-header',
    kind: 'way',
    headers: { 'ngrok-error-code': /ERR_NGROK_/ },
    says: 'the ngrok tunnel is not running',
    fix: START,
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
