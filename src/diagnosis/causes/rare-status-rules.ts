import type { CauseRule } from './cause-rule.ts';

/** What a status means that hardly any receiver responds with, where nothing else is known. */
export const RARE_STATUS_RULES: readonly CauseRule[] = [
  {
    code: 'not-acceptable',
    kind: 'receiver',
    status: [406],
    says: 'it has no response of a type that the request accepts',
    fix: "respond with 2xx whatever Accept says (Rails: head :ok); or send --header 'Accept: application/json'",
  },
  {
    code: 'proxy-password-there',
    kind: 'way',
    status: [407],
    says: 'a proxy on the way wants a user and a password (407)',
    fix: 'give them: {proxy}=http://USER:PASSWORD@HOST:PORT; or let the proxy pass {path} without',
  },
  {
    code: 'length-required',
    kind: 'way',
    status: [411],
    says: 'it wants Content-Length, which was sent: a proxy on the way takes it away',
    fix: 'let that proxy pass bodies on as they come (nginx: proxy_request_buffering on), not in chunks',
  },
  {
    code: 'condition',
    kind: 'receiver',
    status: [412, 428],
    says: 'it wants a condition such as If-Match, which webhooks do not have',
    fix: "let {path} do without it, or give it: --header 'If-Match: *'",
  },
  {
    code: 'misdirected',
    kind: 'way',
    status: [421],
    says: 'the server that responds is not the one of {hostname} (421)',
    fix: 'check the host name and its DNS record; the server must list {hostname} (server_name, ServerAlias, certificate)',
  },
  {
    code: 'upgrade',
    kind: 'way',
    status: [426],
    says: 'it takes another protocol only (426): WebSocket, HTTP/2 or TLS',
    fix: 'give the URL of the receiver, with https:// where it wants TLS; or let {path} take POST over HTTP/1.1',
  },
  {
    code: 'paid',
    kind: 'way',
    status: [402],
    says: 'the host wants to be paid (402)',
    fix: 'look into the account of the receiver at its host',
  },
  {
    code: 'legal',
    kind: 'way',
    status: [451],
    says: 'the content is not available here for legal reasons (451)',
    fix: 'send from another place',
  },
];
