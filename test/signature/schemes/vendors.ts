import { createHmac, timingSafeEqual } from 'node:crypto';
import { sign as signForGithub, verify as verifyForGithub } from '@octokit/webhooks-methods';
import { Webhook as StandardWebhook } from 'standardwebhooks';
import { Stripe } from 'stripe';
import { Webhook as SvixWebhook } from 'svix';

/** A message to sign, and the time of signing in seconds. */
export interface VendorMessage {
  readonly body: string;
  readonly id: string;
  readonly seconds: number;
  readonly secret: string;
}

export type VendorHeaders = Readonly<Record<string, string>>;

/** Signs and verifies with the code of a vendor. */
export interface Vendor {
  readonly name: string;
  readonly scheme: string;
  readonly origin: string;
  readonly secretKind: 'whsec' | 'text';
  readonly sign: (message: VendorMessage) => VendorHeaders | Promise<VendorHeaders>;
  readonly verify: (message: VendorMessage, headers: VendorHeaders) => boolean | Promise<boolean>;
}

const stripe = new Stripe('sk_test_not_a_key');

export const VENDORS: readonly Vendor[] = [
  {
    name: 'standardwebhooks',
    scheme: 'standard-webhooks',
    origin: 'npm standardwebhooks 1.1.1, Webhook.sign',
    secretKind: 'whsec',
    sign: (message) => standardHeaders(new StandardWebhook(message.secret), message),
    verify: ({ body, secret }, headers) =>
      doesNotThrow(() => new StandardWebhook(secret).verify(body, headers)),
  },
  {
    name: 'svix',
    scheme: 'standard-webhooks',
    origin: 'npm svix 1.99.1, Webhook.sign',
    secretKind: 'whsec',
    sign: (message) => standardHeaders(new SvixWebhook(message.secret), message),
    verify: ({ body, secret }, headers) => doesNotThrow(() => new SvixWebhook(secret).verify(body, headers)),
  },
  {
    name: 'svix, with its own names of the headers',
    scheme: 'standard-webhooks',
    origin: 'npm svix 1.99.1, Webhook.sign',
    secretKind: 'whsec',
    sign: (message) => svixNamed(standardHeaders(new SvixWebhook(message.secret), message)),
    verify: ({ body, secret }, headers) =>
      doesNotThrow(() => new SvixWebhook(secret).verify(body, svixNamed(headers))),
  },
  {
    name: '@octokit/webhooks-methods',
    scheme: 'github',
    origin: 'npm @octokit/webhooks-methods 6.0.0, sign',
    secretKind: 'text',
    sign: async ({ body, secret }) => ({ 'X-Hub-Signature-256': await signForGithub(secret, body) }),
    verify: ({ body, secret }, headers) =>
      verifyForGithub(secret, body, headers['X-Hub-Signature-256'] ?? ''),
  },
  {
    name: 'stripe',
    scheme: 'stripe',
    origin: 'npm stripe 23.1.0, webhooks.generateTestHeaderString',
    secretKind: 'whsec',
    sign: ({ body, secret, seconds }) => ({
      'Stripe-Signature': stripe.webhooks.generateTestHeaderString({
        payload: body,
        secret,
        timestamp: seconds,
      }),
    }),
    verify: ({ body, secret }, headers) =>
      doesNotThrow(() => stripe.webhooks.constructEvent(body, headers['Stripe-Signature'] ?? '', secret)),
  },
  {
    name: 'the documentation of Shopify',
    scheme: 'shopify',
    origin: 'code in the form of shopify.dev, "Verify webhook deliveries"',
    secretKind: 'text',
    sign: ({ body, secret }) => ({ 'X-Shopify-Hmac-Sha256': shopifyDigest(body, secret) }),
    verify: ({ body, secret }, headers) =>
      equal(shopifyDigest(body, secret), headers['X-Shopify-Hmac-Sha256'] ?? ''),
  },
  {
    name: 'the documentation of Slack',
    scheme: 'slack',
    origin: 'code in the form of docs.slack.dev, "Verifying requests from Slack"',
    secretKind: 'text',
    sign: ({ body, secret, seconds }) => ({
      'X-Slack-Request-Timestamp': String(seconds),
      'X-Slack-Signature': slackSignature(body, { secret, timestamp: String(seconds) }),
    }),
    verify: ({ body, secret }, headers) => {
      const timestamp = headers['X-Slack-Request-Timestamp'] ?? '';
      if (Math.abs(Date.now() / 1000 - Number(timestamp)) > 60 * 5) return false;
      return equal(slackSignature(body, { secret, timestamp }), headers['X-Slack-Signature'] ?? '');
    },
  },
];

function standardHeaders(
  webhook: { sign(id: string, date: Date, body: string): string },
  { body, id, seconds }: VendorMessage,
): VendorHeaders {
  return {
    'webhook-id': id,
    'webhook-timestamp': String(seconds),
    'webhook-signature': webhook.sign(id, new Date(seconds * 1000), body),
  };
}

function svixNamed(headers: VendorHeaders): VendorHeaders {
  return Object.fromEntries(
    Object.entries(headers).map(([name, value]) => [name.replace(/^webhook-/, 'svix-'), value]),
  );
}

function shopifyDigest(body: string, secret: string): string {
  return createHmac('sha256', secret).update(body, 'utf8').digest('base64');
}

function slackSignature(
  body: string,
  { secret, timestamp }: { readonly secret: string; readonly timestamp: string },
): string {
  return `v0=${createHmac('sha256', secret).update(`v0:${timestamp}:${body}`).digest('hex')}`;
}

function equal(one: string, other: string): boolean {
  const [left, right] = [Buffer.from(one), Buffer.from(other)];
  return left.length === right.length && timingSafeEqual(left, right);
}

export function doesNotThrow(run: () => unknown): boolean {
  try {
    run();
    return true;
  } catch {
    return false;
  }
}
