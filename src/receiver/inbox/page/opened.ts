import { useEffect, useState } from 'preact/hooks';
import type { Details } from '../wire.ts';
import { messageOf, type Api } from './api.ts';

/** A request with all there is of it. */
export interface Opened {
  readonly details: Details;
  readonly body: Uint8Array;
}

export type Opening = Opened | { readonly fault: string } | undefined;

/** What is known of the request that is selected; undefined while it is fetched. */
export function useOpened(api: Api, id: number | undefined): Opening {
  const [opening, setOpening] = useState<{ readonly id: number; readonly now: Opening }>();
  useEffect(() => {
    if (id === undefined) return undefined;
    const left = new AbortController();
    const { signal } = left;
    Promise.all([api.details(id, signal), api.body(id, signal)]).then(
      ([details, body]) => setOpening({ id, now: { details, body } }),
      (error: unknown) => {
        if (!signal.aborted) setOpening({ id, now: { fault: messageOf(error) } });
      },
    );
    return () => left.abort();
  }, [api, id]);
  return opening?.id === id ? opening?.now : undefined;
}

/** The ids of the requests whose body has the words in it, asked for again as requests come. */
export function useBodySearch(api: Api, words: string, newestId: number): ReadonlySet<number> {
  const [found, setFound] = useState<ReadonlySet<number>>(new Set());
  useEffect(() => {
    const left = new AbortController();
    if (words === '') {
      setFound(new Set());
      return undefined;
    }
    const timer = setTimeout(() => {
      api.search(words, left.signal).then(
        (ids) => setFound(new Set(ids)),
        // What the list shows is searched all the same.
        () => {},
      );
    }, SEARCH_AFTER_MS);
    return () => {
      clearTimeout(timer);
      left.abort();
    };
  }, [api, words, Math.ceil(newestId / 100), newestId < 200 ? newestId : 0]);
  return found;
}

/** Whoever types is not done with every letter. */
const SEARCH_AFTER_MS = 150;
