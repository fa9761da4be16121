/** A count with its thousands separated by commas, whatever the locale. */
export function formatCount(count: number): string {
  return count.toLocaleString('en-US');
}
