/** Separates the keys of a joined path. Keys can contain dots, so that a dot cannot. */
const BETWEEN = '\0';

/**
 * Reads a path as filters have it: `traits.plan`, `properties.items.*.sku`, `**.email`. The pattern matches the joined path of
 * the value and of all values in it.
 */
export function pathPattern(path: string): RegExp {
  const steps = path.split('.').map((step, at, { length }) => {
    const end = at + 1 === length ? BETWEEN : `[.${BETWEEN}]`;
    if (step === '*') return `[^${BETWEEN}]+${end}`;
    return step === '**' ? `(?:.*${BETWEEN})?` : step.replaceAll(/[\\^$*+?()[\]{}|/-]/g, '\\$&') + end;
  });
  return new RegExp(`^${steps.join('')}`, 's');
}

/** Joins the keys and indexes of a path for `pathPattern`. */
export function joinedPath(keys: readonly string[]): string {
  return keys.map((key) => key + BETWEEN).join('');
}
