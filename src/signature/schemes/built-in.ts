import type { SignatureScheme } from './scheme.ts';

/** Name of the scheme that is used if none is chosen. */
export const DEFAULT_SCHEME = 'segment';

export const SEGMENT: SignatureScheme = {
  name: DEFAULT_SCHEME,
  title: 'Segment',
  headers: { 'X-Signature': '{signature}' },
  signs: '{body}',
  hash: 'sha1',
  encoding: 'hex',
  isLenient: true,
};

export const BUILT_IN_SCHEMES: readonly SignatureScheme[] = [
  SEGMENT,
  {
    name: 'segment-batch',
    title: 'batched Webhooks (Actions) of Segment',
    headers: { 'X-Signature': '{signature}' },
    signs: '{body}',
    covers: 'first',
    hash: 'sha1',
    encoding: 'hex',
  },
  {
    name: 'standard-webhooks',
    title: 'Standard Webhooks',
    headers: {
      'webhook-id': '{id}',
      'webhook-timestamp': '{timestamp}',
      'webhook-signature': 'v1,{signature}',
    },
    separator: ' ',
    signs: '{id}.{timestamp}.{body}',
    hash: 'sha256',
    encoding: 'base64',
    secret: 'base64',
    secretPrefix: 'whsec_',
    keyBytes: { min: 24, max: 64 },
    tolerance: 300,
  },
  {
    name: 'github',
    title: 'GitHub',
    headers: { 'X-Hub-Signature-256': 'sha256={signature}' },
    signs: '{body}',
    hash: 'sha256',
    encoding: 'hex',
  },
  {
    name: 'stripe',
    title: 'Stripe',
    headers: { 'Stripe-Signature': 't={timestamp},v1={signature}' },
    separator: ',',
    signs: '{timestamp}.{body}',
    hash: 'sha256',
    encoding: 'hex',
    secretPrefix: 'whsec_',
    tolerance: 300,
  },
  {
    name: 'shopify',
    title: 'Shopify',
    headers: { 'X-Shopify-Hmac-Sha256': '{signature}' },
    signs: '{body}',
    hash: 'sha256',
    encoding: 'base64',
  },
  {
    name: 'slack',
    title: 'Slack',
    headers: { 'X-Slack-Request-Timestamp': '{timestamp}', 'X-Slack-Signature': 'v0={signature}' },
    signs: 'v0:{timestamp}:{body}',
    hash: 'sha256',
    encoding: 'hex',
    tolerance: 300,
  },
];
