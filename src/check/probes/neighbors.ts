import { nearPaths, USUAL_PATHS } from '../../suggest.ts';

/** A URL at which the route may be instead of at the given one. */
export interface Neighbor {
  readonly url: string;
  /** Whether the path is the given one with its last segment twice (`/a/b/b`), or the whole path twice (`/a/b/a/b`). */
  readonly isRepeated: boolean;
}

/** Returns the URLs to try if a URL has no route, the likeliest first. */
export function neighborsOf(url: string): readonly Neighbor[] {
  const { pathname } = new URL(url);
  const bare = pathname.replace(/\/+$/, '');
  const paths = new Set([...nearPaths(pathname), ...USUAL_PATHS]);
  paths.delete(pathname);
  return Array.from(paths, (path) => {
    const isRepeated = path === bare + bare || path === bare + bare.slice(bare.lastIndexOf('/'));
    return { url: withPath(url, path), isRepeated };
  });
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
