/** Finds the known word that `word` probably means: the same word in another case, or at most two edits away. */
export function closest(word: string, known: Iterable<string>): string | undefined {
  const meant = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.min(2, Math.floor(word.length / 2)) + 1;
  if (word.length > LONGEST_WORD) return undefined;
  for (const candidate of known) {
    const distance = editDistance(meant, candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Longest word that gets a suggestion: the cost is the product of both lengths, and `word` is untrusted. */
const LONGEST_WORD = 64;

/** Counts the characters of `from` to insert, delete, replace or swap with their neighbor to get `to`. */
export function editDistance(from: string, to: string): number {
  const rows = [Array.from({ length: to.length + 1 }, (_, column) => column)];
  for (let row = 1; row <= from.length; row++) {
    const [above = [], twoAbove = []] = [rows[row - 1], rows[row - 2]];
    const line = [row];
    for (let column = 1; column <= to.length; column++) {
      const replaced = at(above, column - 1) + (from[row - 1] === to[column - 1] ? 0 : 1);
      const swapped =
        from[row - 1] === to[column - 2] && from[row - 2] === to[column - 1]
          ? at(twoAbove, column - 2) + 1
          : Infinity;
      line.push(Math.min(replaced, swapped, at(above, column) + 1, at(line, column - 1) + 1));
    }
    rows.push(line);
  }
  return at(rows[from.length] ?? [], to.length);
}

function at(line: readonly number[], column: number): number {
  return line[column] ?? Infinity;
}
