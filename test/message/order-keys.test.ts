import { describe, expect, it } from 'vitest';
import { buildMessage } from '../../src/message/build.ts';
import { orderKeysOf } from '../../src/message/order-keys.ts';

describe('orderKeysOf', () => {
  it.each([
    [{ type: 'track', event: 'e', userId: 'u', anonymousId: 'a' }, ['u']],
    [{ type: 'page', anonymousId: 'a' }, ['a']],
    [{ type: 'alias', previousId: 'old', userId: 'new' }, ['old', 'new']],
    [{ type: 'alias', 'Previous ID': 'old', 'User ID': 'new' }, ['old', 'new']],
    [{ type: 'alias', previousId: 'same', userId: 'same' }, ['same']],
    [{ type: 'track', event: 'e', userId: 'u', previousId: 'no alias' }, ['u']],
    [{ type: 'delete', userId: 'u' }, ['u']],
  ])('of %j are %j', (input, keys) => {
    expect(orderKeysOf(buildMessage(input, { now: 0 }))).toEqual(keys);
  });
});
