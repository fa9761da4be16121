import { formatCount } from '../message/limits.ts';
import type { Counts } from './difference.ts';

/** A share of the previous members (0.5), or a number of users. */
export type MaxChange =
  { readonly kind: 'share'; readonly share: number } | { readonly kind: 'count'; readonly count: number };

/** Maximum number of added and removed members that is never suspicious, unless the user sets a limit. */
const NEVER_SUSPICIOUS = 100;
const SUSPICIOUS_SHARE = 0.5;

/** The number of members before the sync, and the numbers of changes. */
interface Comparison {
  readonly before: number;
  readonly counts: Counts;
  /**
   * Whether no sync of the audience has been complete so far. If so, added users are not suspicious, because they may be the
   * rest of the first sync.
   */
  readonly isFirst: boolean;
}

/**
 * Returns why a change is suspicious. Without a limit of the user there are two reasons: more than half of the members are
 * missing (a truncated file), or the added and removed members together exceed half of the members (a wrong file). A limit
 * of the user replaces these rules, and also counts changed values. Undefined if the change is not suspicious.
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
  return `${formatCount(added)} members would be added and ${formatCount(removed)} of ${formatCount(before)} removed`;
}
