import { useEffect, useRef, useState } from 'preact/hooks';
import type { Details } from '../../wire.ts';
import { messageOf } from '../../../errors.ts';
import type { Api } from './api.ts';

/** A request with all there is of it. */
export interface FullRequest {
  readonly details: Details;
  readonly body: Uint8Array;
}

export type LoadedRequest = FullRequest | { readonly failure: string } | undefined;

/** What is known of the request that is selected; undefined while it is fetched. */
export function useFullRequest(api: Api, id: number | undefined): LoadedRequest {
  const [opening, setOpening] = useState<{ readonly id: number; readonly now: LoadedRequest }>();
  useEffect(() => {
    if (id === undefined) return undefined;
    const left = new AbortController();
    const { signal } = left;
    Promise.all([api.details(id, signal), api.body(id, signal)]).then(
      ([details, body]) => setOpening({ id, now: { details, body } }),
      (error: unknown) => {
        if (!signal.aborted) setOpening({ id, now: { failure: messageOf(error) } });
      },
    );
    return () => left.abort();
  }, [api, id]);
  return opening?.id === id ? opening?.now : undefined;
}

/** The ids of the requests whose body has the words in it, asked for again as requests come. */
export function useBodySearch(api: Api, words: string, newestId: number): ReadonlySet<number> {
  const [found, setFound] = useState(NOTHING);
  const newest = useRef(newestId);
  newest.current = newestId;
  useEffect(() => {
    setFound(NOTHING);
    if (words === '') return undefined;
    const left = new AbortController();
    let searchedId = -1;
    const search = async (): Promise<void> => {
      const isStale = searchedId !== newest.current;
      searchedId = newest.current;
      // If it fails, the search still covers the texts of the list.
      const ids = isStale ? await api.search(words, left.signal).catch(() => []) : undefined;
      if (left.signal.aborted) return;
      if (ids !== undefined) setFound(new Set(ids));
      timer = setTimeout(() => void search(), SEARCH_AGAIN_MS);
    };
    let timer = setTimeout(() => void search(), SEARCH_AFTER_MS);
    return () => {
      clearTimeout(timer);
      left.abort();
    };
  }, [api, words]);
  return found;
}

const NOTHING: ReadonlySet<number> = new Set();

/** The pause in typing that starts a search. */
const SEARCH_AFTER_MS = 150;
/** The interval of searching all bodies again, for new requests. */
const SEARCH_AGAIN_MS = 1_000;
