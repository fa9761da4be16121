import { ConfigError } from '../../errors.ts';
import { printable } from '../../redact.ts';

/** Returns whether `--ignore` matches a path, such as `$.items[*].id` or `header etag`. */
export type IgnoresPath = (path: string) => boolean;

/**
 * Parses the values of `--ignore`. Each is `header NAME`, or a path in the body such as `$.items[*].id`, `items.*.id`
 * or `**.id`, which also matches all values below it. The returned function adds each value that matches a path to
 * `matched`. Throws ConfigError for an empty path.
 */
export function readIgnoredPaths(texts: readonly string[], matched = new Set<string>()): IgnoresPath {
  const patterns = texts.map((text) => [text, ignoredPattern(text)] as const);
  const known = new Map<string, boolean>();
  return (path) => {
    const earlier = known.get(path);
    if (earlier !== undefined) return earlier;
    const matching = patterns.filter(([, pattern]) => pattern.test(plainPath(path)));
    for (const [text] of matching) matched.add(text);
    const found = matching.length > 0;
    if (known.size < MAX_KNOWN) known.set(path, found);
    return found;
  };
}

const MAX_KNOWN = 10_000;

function ignoredPattern(text: string): RegExp {
  const header = /^\s*headers?[\s:.]\s*(\S+)\s*$/i.exec(text)?.[1];
  if (header !== undefined) return new RegExp(`^header ${escaped(header.toLowerCase())}$`);
  const path = plainPath(text.trim());
  if (path === '') {
    throw new ConfigError(`Expected \`--ignore\` to be a path, got \`${printable(text, 60)}\``, {
      flag: '--ignore',
      hint: "give a path of the body, such as '$.items[*].id', or 'header etag'",
    });
  }
  const steps = path.split('.').map((step) => ({ '*': '[^.]+', '**': '.*' })[step] ?? escaped(step));
  return new RegExp(`^${steps.join('\\.').replaceAll('.*\\.', '(?:.*\\.)?')}(?:\\.|$)`);
}

/** Normalizes a path: removes the leading `$`, separates the steps with dots, and replaces each index with `*`. */
function plainPath(path: string): string {
  return path
    .replace(/^\$\.?/, '')
    .replaceAll(/\[(?:\*|\d+)\]/g, '.*')
    .replaceAll(/\["((?:[^"\\]|\\.)*)"\]/g, '.$1')
    .replaceAll(/(?<=^|\.)\d+(?=\.|$)/g, '*')
    .replace(/^\./, '');
}

function escaped(text: string): string {
  return text.replaceAll(/[.*+?^${}()|[\]\\]/g, String.raw`\$&`);
}
