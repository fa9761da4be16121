import { useEffect, useRef, useState } from 'preact/hooks';
import { messageOf } from '../../../errors.ts';
import type { Details, MismatchCause } from '../../wire.ts';
import type { FullRequest } from '../full-request.ts';
import type { Api } from './api.ts';

export type LoadedRequest = FullRequest | { readonly failure: string } | undefined;

/** Loads a request with its details and its body. Returns undefined while loading. */
export function useFullRequest(api: Api, id: number | undefined): LoadedRequest {
  const [opening, setOpening] = useState<{ readonly id: number; readonly now: LoadedRequest }>();
  useEffect(() => {
    if (id === undefined) return undefined;
    const left = new AbortController();
    const { signal } = left;
    const load = async (): Promise<void> => {
      const [details, body] = await Promise.all([api.details(id, signal), api.body(id, signal)]);
      const loaded = { details, body, text: new TextDecoder().decode(body) };
      setOpening({ id, now: loaded });
      if (details.diagnosis?.isCutShort !== true) return;
      const diagnosis = await foundCause(api, details, signal);
      if (!signal.aborted) setOpening({ id, now: { ...loaded, details: { ...details, diagnosis } } });
    };
    load().catch((error: unknown) => {
      if (!signal.aborted) setOpening({ id, now: { failure: messageOf(error) } });
    });
    return () => left.abort();
  }, [api, id]);
  return opening?.id === id ? opening?.now : undefined;
}

/**
 * Searches longer for the cause of a mismatch whose diagnosis was cut short. Keeps the diagnosis if that fails. Waits first,
 * so that stepping through the list starts no search.
 */
async function foundCause(
  api: Api,
  { summary: { id }, diagnosis }: Details,
  signal: AbortSignal,
): Promise<MismatchCause | undefined> {
  await new Promise((resolve) => setTimeout(resolve, SEARCH_AFTER_MS));
  const found = signal.aborted ? undefined : await api.cause(id, signal).catch(() => undefined);
  return found?.diagnosis ?? (diagnosis && { code: diagnosis.code, hint: diagnosis.hint });
}

/** Ids of the requests whose body contains the words. Searches again when new requests arrive. */
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
      // If the search fails, the filter still searches the texts of the list.
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

/** Pause in typing, or in stepping through the list, after which a search starts. */
const SEARCH_AFTER_MS = 150;
/** Interval at which bodies are searched again if requests have arrived since the last search. */
const SEARCH_AGAIN_MS = 1_000;
