import { MEMBER_END } from '../entry.ts';

/** Where lines are short, a call for each would cost more than the loop. */
export function countLines(lines: Buffer): number {
  let count = 0;
  for (let at = 0; at < lines.length; at++) if (lines[at] === MEMBER_END) count++;
  return count;
}
