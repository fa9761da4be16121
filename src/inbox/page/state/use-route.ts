import { useEffect, useState } from 'preact/hooks';
import { parseRoute, routeHash, type InboxRoute } from './route.ts';

export type ChangeRoute = (news: (now: InboxRoute) => Partial<InboxRoute>) => void;

/** Keeps the route in the address, so that links open a request, and Back leads from a request to the list. */
export function useRoute(): readonly [route: InboxRoute, change: ChangeRoute] {
  const [route, setRoute] = useState(() => parseRoute(location.hash));
  useEffect(() => {
    const onMove = (): void => setRoute(parseRoute(location.hash));
    window.addEventListener('popstate', onMove);
    return () => window.removeEventListener('popstate', onMove);
  }, []);
  useEffect(() => {
    const hash = routeHash(route);
    if (location.hash === hash) return;
    const isOpening = parseRoute(location.hash).selectedId === undefined;
    // Adds no history entry from request to request, so that one Back leads to the list.
    history[isOpening ? 'pushState' : 'replaceState'](null, '', hash || location.pathname + location.search);
  }, [route]);
  return [route, (news) => setRoute((now) => ({ ...now, ...news(now) }))];
}
