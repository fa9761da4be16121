import { formatCount } from '../message/limits.ts';
import type { Counts } from './difference.ts';

/** A share of the previous members (0.5), or a number of users. */
export type MaxChange =
  { readonly kind: 'share'; readonly share: number } | { readonly kind: 'count'; readonly count: number };

/** Number of changes that is never suspicious without a limit of the user. */
const NEVER_SUSPICIOUS = 100;
const SUSPICIOUS_SHARE = 0.5;

/** The number of previous members, and the differences of the input. */
interface Comparison {
  readonly before: number;
  readonly counts: Counts;
  /** Whether no sync was complete so far: then added users do not count, because they may be the rest of the first sync. */
  readonly isFirst: boolean;
}

/**
 * Why a difference is suspicious: more than half of the members are missing (a truncated file), or a number above half of them would be
 * added and removed (a wrong file). A limit of the user replaces these rules, and also counts changed values. Undefined if the difference is
 * not suspicious.
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
