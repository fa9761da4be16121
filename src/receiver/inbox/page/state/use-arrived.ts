import { useEffect, useState } from 'preact/hooks';
import { RequestFeed, NOTHING, type ArrivedRequests } from './arrivals.ts';

/** What came, at most once a frame, so that a thousand arrivals a second are drawn sixty times. */
export function useArrived(token: string): ArrivedRequests {
  const [arrived, setArrived] = useState(NOTHING);
  useEffect(() => {
    let timer: number | undefined;
    let latest: ArrivedRequests;
    const arrivals = new RequestFeed(token, (now) => {
      latest = now;
      // Not an animation frame, of which a page in the background has none.
      timer ??= window.setTimeout(() => {
        timer = undefined;
        setArrived(latest);
      }, FRAME_MS);
    });
    return () => {
      arrivals.close();
      clearTimeout(timer);
    };
  }, [token]);
  return arrived;
}

const FRAME_MS = 16;
