import type { Analytics } from '@segment/analytics-node';

/** A call of the real client, with the contents of its message. */
export interface SegmentCall {
  readonly userId: string;
  readonly call: (analytics: Analytics) => void;
  readonly type: string;
  /** The fields of the type before the timestamp, in the order of contract.md, Messages on the wire. */
  readonly fields: Readonly<Record<string, unknown>>;
  /** The fields after the timestamp. */
  readonly others?: Readonly<Record<string, unknown>>;
  readonly context?: Readonly<Record<string, unknown>>;
  readonly timestamp?: string;
}

const TRAITS = { plan: 'pro', née: 'Zoë 😀' };
const PROPERTIES = { total: 19.99, lines: [1, { sku: 'é' }], none: null };
const ADDRESS = { title: 'Docs: née', path: '/docs', url: 'https://a.example/docs', referrer: '' };
const CONTEXT = { device: { model: 'iPhone7,2', type: 'ios' } };
const EARLIER = '2026-11-20T21:10:05.123Z';

const CALLS: readonly ((userId: string) => Omit<SegmentCall, 'userId'>)[] = [
  (userId) => ({
    call: (analytics) => analytics.identify({ userId, traits: TRAITS }),
    type: 'identify',
    fields: { userId, traits: TRAITS },
  }),
  (userId) => ({
    call: (analytics) =>
      analytics.track({
        userId,
        event: 'Order Completed',
        properties: PROPERTIES,
        integrations: { All: false, Webhooks: true },
      }),
    type: 'track',
    fields: { userId, event: 'Order Completed', properties: PROPERTIES },
  }),
  (userId) => ({
    call: (analytics) => analytics.page({ userId, name: 'Home', category: 'Docs', properties: ADDRESS }),
    type: 'page',
    fields: { userId, properties: { ...ADDRESS, category: 'Docs', name: 'Home' } },
  }),
  (userId) => ({
    call: (analytics) =>
      analytics.screen({ userId, name: 'Settings', properties: { dark: true }, context: CONTEXT }),
    type: 'screen',
    fields: { userId, name: 'Settings' },
    others: { properties: { dark: true } },
    context: CONTEXT,
  }),
  (userId) => ({
    call: (analytics) => analytics.group({ userId, groupId: 'acme', traits: { seats: 12 } }),
    type: 'group',
    fields: { groupId: 'acme', userId, traits: { seats: 12 } },
  }),
  (userId) => ({
    call: (analytics) => analytics.alias({ userId, previousId: 'before' }),
    type: 'alias',
    fields: { 'Previous ID': 'before', 'User ID': userId },
  }),
  (anonymousId) => ({
    call: (analytics) => analytics.track({ anonymousId, event: 'Signup', timestamp: new Date(EARLIER) }),
    type: 'track',
    fields: { anonymousId, event: 'Signup', properties: {} },
    timestamp: EARLIER,
  }),
];

/** Returns calls of every type in turn, each by a different user. */
export function segmentCalls(count: number): readonly SegmentCall[] {
  return Array.from({ length: count }, (_, index) => {
    const userId = `user-${index}`;
    const make = CALLS[index % CALLS.length];
    if (make === undefined) throw new Error('Expected calls');
    return { ...make(userId), userId };
  });
}

/** Returns the exact body for a call. Generated values (message id, time, library version) are those of the received body. */
export function expectedBody(
  { type, fields, others, context, timestamp }: SegmentCall,
  came: string,
): string {
  const { messageId, timestamp: time, context: all } = JSON.parse(came) as CameBody;
  return JSON.stringify({
    version: 1,
    type,
    ...fields,
    timestamp: timestamp ?? new Date(time).toISOString(),
    ...others,
    messageId,
    context: { ...context, library: { name: '@segment/analytics-node', version: all.library?.version } },
  });
}

interface CameBody {
  readonly messageId: string;
  readonly timestamp: string;
  readonly context: { readonly library?: { readonly version?: string } };
}

/** Returns the user of a body, which each type names differently. */
export function userOf(body: string): string {
  const { userId, anonymousId, 'User ID': newId } = JSON.parse(body) as Readonly<Record<string, unknown>>;
  return String(userId ?? newId ?? anonymousId);
}
