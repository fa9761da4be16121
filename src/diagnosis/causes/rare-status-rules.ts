import { rulesOfKind } from './cause-rule.ts';

/** Causes by status alone, for statuses that hardly any receiver uses. */
export const RARE_STATUS_RULES = rulesOfKind('way', [
  {
    code: 'not-acceptable',
    kind: 'receiver',
    status: [406],
    says: 'it has no response of a type that the request accepts',
    fix: "respond with 2xx whatever Accept says (Rails: head :ok); or send --header 'Accept: application/json'",
  },
  {
    code: 'proxy-password-there',
    status: [407],
    says: 'a proxy in between wants a user and a password (407)',
    fix: 'give them: {proxy}=http://USER:PASSWORD@HOST:PORT; or let the proxy pass {path} without',
  },
  {
    code: 'length-required',
    status: [411],
    says: 'it wants Content-Length, which was sent: a proxy in between removes it',
    fix: 'let that proxy forward bodies unchanged (nginx: proxy_request_buffering on), not in chunks',
  },
  {
    code: 'condition',
    kind: 'receiver',
    status: [412, 428],
    says: 'it wants a condition such as If-Match, which webhooks do not have',
    fix: "do not require it at {path}, or give it: --header 'If-Match: *'",
  },
  {
    code: 'misdirected',
    status: [421],
    says: 'the server that responds is not the one of {hostname} (421)',
    fix: 'check the host name and its DNS record; the server must list {hostname} (server_name, ServerAlias, certificate)',
  },
  {
    code: 'upgrade',
    status: [426],
    says: 'it accepts only another protocol (426): WebSocket, HTTP/2 or TLS',
    fix: 'give the URL of the receiver, with https:// where it wants TLS; or let {path} take POST over HTTP/1.1',
  },
  {
    code: 'paid',
    status: [402],
    says: 'the host wants payment (402)',
    fix: 'look into the account of the receiver at its host',
  },
  {
    code: 'legal',
    status: [451],
    says: 'the content is not available here for legal reasons (451)',
    fix: 'send from another place',
  },
]);
