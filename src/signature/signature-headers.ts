import { closest } from '../suggest.ts';

/** Signature headers of other services, each with the name of the service. */
const SERVICE_BY_HEADER: ReadonlyMap<string, string> = new Map(
  Object.entries({
    'x-hub-signature-256': 'GitHub',
    'x-hub-signature': 'GitHub or Meta',
    'stripe-signature': 'Stripe',
    'webhook-signature': 'Standard Webhooks',
    'svix-signature': 'Svix',
    'x-shopify-hmac-sha256': 'Shopify',
    'x-slack-signature': 'Slack',
    'jitsu-signature': 'Jitsu',
    'x-twilio-signature': 'Twilio',
    'x-gitlab-token': 'GitLab',
    'x-square-hmacsha256-signature': 'Square',
    'x-signature-ed25519': 'Discord',
    'x-zm-signature': 'Zoom',
    'x-wc-webhook-signature': 'WooCommerce',
    'x-pagerduty-signature': 'PagerDuty',
    'x-twitter-webhooks-signature': 'X',
    'paddle-signature': 'Paddle',
    'linear-signature': 'Linear',
    'x-contentful-signature': 'Contentful',
    'x-rudder-signature': 'RudderStack',
  }),
);

/** Maximum number of received headers that a sentence names. */
const MOST_NAMED = 4;

/**
 * Says that the header `wanted` is missing, and which of the received headers look like signatures by their name, or are in
 * `alike` (names of headers whose value looks like a signature): `X-Signature is missing; X-Hub-Signature-256 (GitHub)
 * came`. Undefined if no header looks like a signature. Escape the result: header names are untrusted.
 */
export function signatureHeadersText(
  names: readonly string[],
  {
    wanted = 'X-Signature',
    alike = [],
  }: { readonly wanted?: string; readonly alike?: readonly string[] } = {},
): string | undefined {
  const missing = new Set(wanted.toLowerCase().split(' and '));
  const found = [...new Set(names)]
    .filter((name) => !missing.has(name.toLowerCase()) && (alike.includes(name) || isSignatureHeader(name)))
    .slice(0, MOST_NAMED);
  if (found.length === 0) return undefined;
  const verb = missing.size === 1 ? 'is' : 'are';
  return `${wanted} ${verb} missing; ${found.map(withService).join(' and ')} came`;
}

/** Whether a header, judged by its name, has the signature of a request. */
export function isSignatureHeader(name: string): boolean {
  const lower = name.toLowerCase();
  return (
    SERVICE_BY_HEADER.has(lower) ||
    /sign|hmac|digest|\bsig\b/.test(lower) ||
    closest(lower, ['x-signature']) !== undefined
  );
}

function withService(name: string): string {
  const service = SERVICE_BY_HEADER.get(name.toLowerCase());
  return service === undefined ? name : `${name} (${service})`;
}
