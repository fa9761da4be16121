import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RequestSummary, Setup } from '../../wire.ts';
import { EVERYTHING, filtered, wordsOf, type RequestFilter } from '../list/filter.ts';
import { draftOf, uneditableReason, type EditDraft } from '../request/edit-draft.ts';
import type { Tab } from '../request/tabs.tsx';
import { createApi, type Api } from './api.ts';
import { NOTHING, RequestFeed, type ArrivedRequests } from './arrivals.ts';
import { commandsOf } from './commands.ts';
import { useBodySearch, useFullRequest, type LoadedRequest } from './load-request.ts';
import { NARROW, type InboxRoute } from './route.ts';
import { useRoute } from './use-route.ts';

/** The state of the page, and the functions that change it. */
export type InboxState = ReturnType<typeof useInbox>;

export function useInbox(setup: Setup) {
  const api = useMemo(() => createApi(setup), [setup]);
  const arrived = useArrived(setup.token);
  const [filter, setFilter] = useState(EVERYTHING);
  const [{ selectedId, markedId }, changeRoute] = useRoute();
  const select = (id: number | undefined): void => changeRoute(() => ({ selectedId: id }));
  const [tab, setTab] = useState<Tab>('tree');
  const [replayUrl, setReplayUrl] = useState(setup.forwardUrl ?? '');
  const [notice, setNotice] = useNotice();
  const shown = useShown(api, arrived, filter);
  const marked = useFullRequest(api, markedId);
  const isComparing = markedId !== selectedId && marked !== undefined && 'body' in marked;
  const opening = useFullRequest(api, selectedId);
  const drafts = useDraft(selectedId, opening, setup, setNotice);
  useTitle(arrived.requests.length);
  const commands = commandsOf({ api, setup, shown, selectedId, replayUrl, setNotice, changeRoute });
  return {
    setup,
    api,
    arrived,
    filter,
    setFilter,
    /** The requests that pass the filter, newest first. */
    shown,
    selectedId,
    select,
    /** Id of the request that is marked for comparison with the selected one. */
    markedId,
    tab,
    setTab,
    /** Target URL of a replay, which stays from one request to the next. */
    replayUrl,
    setReplayUrl,
    /** A short message about the last command, shown for a moment. */
    notice,
    ...drafts,
    ...commands,
    opening,
    /** The marked request while the selected request is compared with it. Undefined outside a comparison. */
    compared: isComparing ? marked : undefined,
    /** Marks the selected request for comparison, or removes the mark. */
    toggleMark: () => changeRoute((now) => markedRoute(now)),
    endComparing: () => changeRoute(() => ({ markedId: undefined })),
    /** Selects the request this many places below; the newest if none is selected. */
    step: (by: number) => changeRoute((now) => ({ selectedId: stepped(shown, now.selectedId, by) })),
    searchRef: useRef<HTMLInputElement>(null),
    formRef: useRef<HTMLFormElement>(null),
  };
}

function useShown(api: Api, { requests }: ArrivedRequests, filter: RequestFilter): readonly RequestSummary[] {
  const inBody = useBodySearch(api, wordsOf(filter), requests.at(-1)?.id ?? 0);
  return useMemo(() => filtered(requests, filter, inBody).toReversed(), [requests, filter, inBody]);
}

function stepped(
  shown: readonly RequestSummary[],
  selectedId: number | undefined,
  by: number,
): number | undefined {
  const index = shown.findIndex(({ id }) => id === selectedId);
  const next = index === -1 ? 0 : Math.min(Math.max(index + by, 0), shown.length - 1);
  return shown[next]?.id ?? selectedId;
}

/**
 * Marks or unmarks the selected request for comparison. On a narrow screen, marking returns to the list, where the user
 * chooses the request to compare with it.
 */
function markedRoute({ selectedId, markedId }: InboxRoute): Partial<InboxRoute> {
  if (markedId === selectedId) return { markedId: undefined };
  return window.matchMedia(NARROW).matches
    ? { selectedId: undefined, markedId: selectedId }
    : { markedId: selectedId };
}

/** Shows the number of requests in the title, for users who look at another tab. */
function useTitle(count: number): void {
  useEffect(() => {
    document.title = `${count === 0 ? '' : `(${count.toLocaleString('en')}) `}Inbox · hooks`;
  }, [count]);
}

const NOTICE_MS = 2_500;

/** A short message that disappears after NOTICE_MS. */
function useNotice(): readonly [notice: string, setNotice: (notice: string) => void] {
  const [notice, setNotice] = useState('');
  useEffect(() => {
    if (notice === '') return undefined;
    const timer = setTimeout(() => setNotice(''), NOTICE_MS);
    return () => clearTimeout(timer);
  }, [notice]);
  return [notice, setNotice];
}

/** The arrived requests. Updates at most once per frame, so that a thousand arrivals per second render sixty times. */
function useArrived(token: string): ArrivedRequests {
  const [arrived, setArrived] = useState(NOTHING);
  useEffect(() => {
    let timer: number | undefined;
    let latest: ArrivedRequests;
    const arrivals = new RequestFeed(token, (now) => {
      latest = now;
      // Uses a timer, because background pages have no animation frames.
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

/** Keeps the edited form of the selected request. Drops the form if another request is selected. */
function useDraft(
  id: number | undefined,
  opening: LoadedRequest,
  { canAct, canSign }: Setup,
  setNotice: (notice: string) => void,
) {
  const [edited, setEdited] = useState<{ readonly id: number; readonly draft: EditDraft }>();
  const draft = edited !== undefined && edited.id === id ? edited.draft : undefined;
  const setDraft = (now: EditDraft): void => {
    if (id !== undefined) setEdited({ id, draft: now });
  };
  /** Starts to edit the selected request, or discards the edit. */
  const toggleEdit = (): void => {
    if (draft !== undefined) return setEdited(undefined);
    if (!canAct || opening === undefined || !('body' in opening)) return;
    if (opening.details.summary.method !== 'POST') return;
    const reason = uneditableReason(opening.body);
    if (reason === undefined) setDraft(draftOf(opening, canSign));
    else setNotice(reason);
  };
  return { draft, setDraft, toggleEdit };
}
