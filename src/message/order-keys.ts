import type { Message } from './types.ts';

/** Whose order the message belongs to: its user id, else its anonymous id; an alias belongs to both its ids. */
export function orderKeysOf({ type, userId, anonymousId, previousId }: Message): readonly string[] {
  const key = userId ?? anonymousId;
  if (key === undefined) return [];
  const isTwo = type === 'alias' && previousId !== undefined && previousId !== key;
  return isTwo ? [previousId, key] : [key];
}
