import type { JSX } from 'preact';
import { useEffect, useRef, useState } from 'preact/hooks';
import type { ArrivedRequests } from '../state/arrivals.ts';
import { spokenSummary } from '../summary-texts.ts';

const ANNOUNCE_AFTER_MS = 1_000;

/** Announces new requests to screen readers, at most once a second. Skips requests from before the page was opened. */
export function Announcer({ arrived }: { readonly arrived: ArrivedRequests }): JSX.Element {
  const [text, setText] = useState('');
  const announcedId = useRef<number | undefined>(undefined);
  const timer = useRef<number | undefined>(undefined);
  const latest = useRef(arrived);
  latest.current = arrived;
  useEffect(() => {
    timer.current ??= window.setTimeout(() => {
      timer.current = undefined;
      const { requests, startId } = latest.current;
      const newest = requests.at(-1);
      const newestId = newest?.id ?? 0;
      const count = newestId - Math.max(announcedId.current ?? 0, startId ?? newestId);
      if (newest === undefined || count <= 0) return;
      announcedId.current = newestId;
      setText(`${count === 1 ? 'New request' : `${count} new requests, the last`}: ${spokenSummary(newest)}`);
    }, ANNOUNCE_AFTER_MS);
  }, [arrived.requests]);
  return (
    <p class="sr" aria-live="polite" id="announcer">
      {text}
    </p>
  );
}
