import { existsSync, readdirSync } from 'node:fs';
import { basename, dirname, join } from 'node:path';
import { readTextNow } from './files.ts';
import { printable } from './redact.ts';

/** Finds the known word that `word` probably means: the same word in another case, or at most two edits away. */
export function closest(word: string, known: Iterable<string>): string | undefined {
  const meant = word.toLowerCase();
  let best: string | undefined;
  let bestDistance = Math.min(2, Math.floor(word.length / 2)) + 1;
  if (word.length > LONGEST_WORD) return undefined;
  for (const candidate of known) {
    // At least as many edits as the lengths differ by. Most candidates are out by that alone.
    if (Math.abs(candidate.length - word.length) >= bestDistance) continue;
    const distance = editDistance(meant, candidate.toLowerCase());
    if (distance < bestDistance) [best, bestDistance] = [candidate, distance];
  }
  return best;
}

/** Finds the known word that `word` probably means: a near one (`closest`), or the shortest that begins with it. */
export function nearWord(word: string, known: readonly string[]): string | undefined {
  const longer = known.filter((each) => word.length > 1 && each.toLowerCase().startsWith(word.toLowerCase()));
  return closest(word, known) ?? longer.toSorted((one, other) => one.length - other.length)[0];
}

/** The hint for an unknown word: the known word that it probably means, else `otherwise`. */
export function nearHint(word: string, known: readonly string[], otherwise: string): string {
  const near = nearWord(word, known);
  return near === undefined ? otherwise : `did you mean ${printable(near, 80)}?`;
}

/** Finds the file that an absolute path probably means, if the file or a folder above it has a near name. */
export function nearPath(path: string): string | undefined {
  const folder = dirname(path);
  if (folder === path) return undefined;
  const there = existsSync(folder) ? folder : nearPath(folder);
  if (there === undefined) return undefined;
  if (there !== folder && existsSync(join(there, basename(path)))) return join(there, basename(path));
  const near = closest(basename(path), namesIn(there));
  return near === undefined ? undefined : join(there, near);
}

/** The names in a folder. Empty for a folder that cannot be read. */
export function namesIn(folder: string): string[] {
  return orNone(() => readdirSync(folder));
}

/** Finds the host that `host` probably means: one of this machine or of the URLs. */
export function nearHost(host: string, urls: readonly (string | undefined)[]): string | undefined {
  return closest(
    host,
    knownHosts(urls).filter((each) => each.length > 3 && each !== host),
  );
}

/** The hosts of this machine and of the URLs. Ignores texts that are not URLs. */
function knownHosts(urls: readonly (string | undefined)[]): readonly string[] {
  const named = urls.flatMap((text = '') => (URL.canParse(text) ? new URL(text).hostname : []));
  const lines = orNone(() => readTextNow('/etc/hosts').replace(/#.*/g, '').split('\n'));
  const ofMachine = lines.flatMap((line) => line.trim().split(/\s+/).slice(1));
  return ['localhost', ...named, ...ofMachine].filter((each) => each !== '');
}

/** Reads names. Returns none if that fails, as for `/etc/hosts` on Windows. */
function orNone(read: () => string[]): string[] {
  try {
    return read();
  } catch {
    return [];
  }
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

/** Common paths of receivers. */
export const USUAL_PATHS = ['/webhook', '/webhooks', '/api/webhook', '/api/webhooks', '/hook', '/hooks'];

/** Returns paths that the user may have meant instead of this one, the likeliest first. */
export function nearPaths(path: string): readonly string[] {
  const bare = path.replace(/\/+$/, '');
  const last = /\/[^/]*$/.exec(bare)?.[0] ?? '';
  const near = [
    bare === path ? `${bare}/` : bare,
    bare + last,
    bare + bare,
    bare.endsWith('s') ? bare.slice(0, -1) : `${bare}s`,
    bare.replace(/^\/[^/]+(?=\/)/, ''),
    last,
    `/api${bare}`,
    bare.replace(/^(\/[^/]+)(?=\/)/, '$1$1'),
    bare.toLowerCase(),
  ];
  return [...new Set(bare === '' ? USUAL_PATHS : near)].filter((each) => each !== path && each !== '');
}
