import { formatCount } from '../message/limits.ts';
import type { Counts } from './difference.ts';

/** A part of the members there were (0.5), or a number of users. */
export type MaxChange =
  { readonly kind: 'share'; readonly share: number } | { readonly kind: 'count'; readonly count: number };

/** The most changes that are never suspicious where the user sets no limit. */
const NEVER_SUSPICIOUS = 100;
const SUSPICIOUS_SHARE = 0.5;

/** The number of members that were sent last, and the difference to those given. */
interface Comparison {
  readonly before: number;
  readonly counts: Counts;
  /** No sync was complete yet: added users may be the rest of the first one, and do not count. */
  readonly isFirst: boolean;
}

/**
 * Why a difference is too much to be sent unasked: half of the members are gone (a file cut short), or more than half of them
 * would be added and removed (another file). With a limit of the user's, only that counts, and changed values too.
 * Undefined: it is not.
 */
export function suspiciousChangeIn(
  { before, counts, isFirst }: Comparison,
  limit: MaxChange | undefined,
): string | undefined {
  const { members, added, removed, changed } = counts;
  const moved = removed + (isFirst ? 0 : added);
  if (limit !== undefined) {
    const changes = moved + changed;
    const most = limit.kind === 'count' ? limit.count : limit.share * before;
    return changes > most
      ? `${formatCount(changes)} of ${formatCount(before)} members would change`
      : undefined;
  }
  if (members * 2 < before) return `${formatCount(before)} members would become ${formatCount(members)}`;
  if (moved <= NEVER_SUSPICIOUS || moved <= before * SUSPICIOUS_SHARE) return undefined;
  return `${formatCount(added)} would be added and ${formatCount(removed)} removed, where there were ${formatCount(before)}`;
}
