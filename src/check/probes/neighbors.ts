/** A URL at which the route may be instead of at the given one. */
export interface Neighbor {
  readonly url: string;
  /** Whether the path is the given one with its last segment twice (`/a/b/b`), or the whole path twice (`/a/b/a/b`). */
  readonly isRepeated: boolean;
}

/** Common paths of receivers. */
const USUAL = ['/webhook', '/webhooks', '/api/webhook', '/api/webhooks', '/hooks'];

/** Returns the URLs to try if a URL has no route, the likeliest first. */
export function neighborsOf(url: string): readonly Neighbor[] {
  const { pathname } = new URL(url);
  const bare = pathname.replace(/\/+$/, '');
  const last = /[^/]*$/.exec(bare)?.[0] ?? '';
  const parent = bare.slice(0, bare.length - last.length);
  const other = last.endsWith('s') ? last.slice(0, -1) : `${last}s`;
  const repeated = last === '' ? [] : [`${bare}/${last}`, bare + bare];
  const slash = pathname.endsWith('/') ? bare : `${bare}/`;
  const paths = [slash, ...repeated, ...(last === '' ? [] : [parent + other, parent]), ...USUAL];
  return [...new Set(paths)]
    .filter((path) => path !== pathname && path !== '')
    .map((path) => ({ url: withPath(url, path), isRepeated: repeated.includes(path) }));
}

/** Returns the URL with its last path segment replaced by a name that should have no route. */
export function siblingOf(url: string): string {
  return withPath(url, new URL(url).pathname.replace(/[^/]*\/*$/, 'hooks-test-no-such-path'));
}

function withPath(url: string, path: string): string {
  const changed = new URL(url);
  changed.pathname = path;
  return changed.href;
}
