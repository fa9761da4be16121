import { useEffect, useState } from 'preact/hooks';
import { parseRoute, routeHash, type InboxRoute } from './route.ts';

export type ChangeRoute = (news: (now: InboxRoute) => Partial<InboxRoute>) => void;

/** What is open, kept in the address: a link leads to it, and the browser's Back from a request to the list. */
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
    // From request to request nothing is added: a hundred steps in the list are no hundred steps back.
    history[isOpening ? 'pushState' : 'replaceState'](null, '', hash || location.pathname + location.search);
  }, [route]);
  return [route, (news) => setRoute((now) => ({ ...now, ...news(now) }))];
}
