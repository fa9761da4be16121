import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { RequestSummary, Setup } from '../../wire.ts';
import { EVERYTHING, filtered, wordsOf, type RequestFilter } from '../list/filter.ts';
import { draftOf, uneditableReason, type EditDraft } from '../request/edit-draft.ts';
import type { Tab } from '../request/tabs.tsx';
import { createApi, type Api } from './api.ts';
import { NOTHING, RequestFeed, type ArrivedRequests } from './arrivals.ts';
import { commandsOf, type InboxCommands } from './commands.ts';
import { useBodySearch, useFullRequest, type FullRequest, type LoadedRequest } from './full-request.ts';
import { NARROW, type InboxRoute } from './route.ts';
import { useRoute } from './use-route.ts';

/** All that the page is showing, and what changes it. */
export interface InboxState extends DraftState, InboxCommands {
  readonly setup: Setup;
  readonly api: Api;
  readonly arrived: ArrivedRequests;
  readonly filter: RequestFilter;
  readonly setFilter: (filter: RequestFilter) => void;
  /** What the filter lets through, the newest first. */
  readonly shown: readonly RequestSummary[];
  readonly selectedId: number | undefined;
  readonly select: (id: number | undefined) => void;
  /** Selects the request this many places below; the newest if none is selected. */
  readonly step: (by: number) => void;
  readonly opening: LoadedRequest;
  /** The one that others are compared with. */
  readonly markedId: number | undefined;
  /** Marks the selected one, or takes the mark away. */
  readonly toggleMark: () => void;
  readonly endComparing: () => void;
  /** What the selected one is compared with now. */
  readonly compared: FullRequest | undefined;
  readonly tab: Tab;
  readonly setTab: (tab: Tab) => void;
  readonly replayUrl: string;
  readonly setReplayUrl: (url: string) => void;
  /** Said for a moment. */
  readonly notice: string;
  readonly searchRef: RefObject<HTMLInputElement | null>;
  readonly formRef: RefObject<HTMLFormElement | null>;
}

export function useInbox(setup: Setup): InboxState {
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
  const drafts = useDraft(selectedId, opening, { setup, setNotice });
  useTitle(arrived.requests.length);
  const commands = commandsOf({ api, setup, shown, selectedId, replayUrl, setNotice, changeRoute });
  return {
    setup,
    api,
    arrived,
    filter,
    setFilter,
    shown,
    selectedId,
    select,
    markedId,
    tab,
    setTab,
    replayUrl,
    setReplayUrl,
    notice,
    ...drafts,
    ...commands,
    opening,
    compared: isComparing ? marked : undefined,
    toggleMark: () => changeRoute((now) => markedRoute(now)),
    endComparing: () => changeRoute(() => ({ markedId: undefined })),
    step: (by) => changeRoute((now) => ({ selectedId: stepped(shown, now.selectedId, by) })),
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

/** Where there is no room for both, the list comes back, so that the other request can be chosen. */
function markedRoute({ selectedId, markedId }: InboxRoute): Partial<InboxRoute> {
  if (markedId === selectedId) return { markedId: undefined };
  return window.matchMedia(NARROW).matches
    ? { selectedId: undefined, markedId: selectedId }
    : { markedId: selectedId };
}

/** The number of requests in the title of the tab, for who looks at another one. */
function useTitle(count: number): void {
  useEffect(() => {
    document.title = `${count === 0 ? '' : `(${count.toLocaleString('en')}) `}Inbox · hooks`;
  }, [count]);
}

const NOTICE_MS = 2_500;

/** A few words that go away by themselves. */
function useNotice(): readonly [notice: string, setNotice: (notice: string) => void] {
  const [notice, setNotice] = useState('');
  useEffect(() => {
    if (notice === '') return undefined;
    const timer = setTimeout(() => setNotice(''), NOTICE_MS);
    return () => clearTimeout(timer);
  }, [notice]);
  return [notice, setNotice];
}

/** What came, at most once a frame, so that a thousand arrivals a second are drawn sixty times. */
function useArrived(token: string): ArrivedRequests {
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

interface DraftContext {
  readonly setup: Setup;
  readonly setNotice: (notice: string) => void;
}

interface DraftState {
  /** The edited form of the selected request; undefined while none is edited. */
  readonly draft: EditDraft | undefined;
  readonly setDraft: (draft: EditDraft) => void;
  /** Begins to edit the selected request, or drops what was edited. */
  readonly toggleEdit: () => void;
}

/** The edited form of the selected request, dropped with the selection. */
function useDraft(
  id: number | undefined,
  opening: LoadedRequest,
  { setup, setNotice }: DraftContext,
): DraftState {
  const [edited, setEdited] = useState<{ readonly id: number; readonly draft: EditDraft }>();
  const draft = edited !== undefined && edited.id === id ? edited.draft : undefined;
  const setDraft = (now: EditDraft): void => {
    if (id !== undefined) setEdited({ id, draft: now });
  };
  const toggleEdit = (): void => {
    if (draft !== undefined) return setEdited(undefined);
    if (!setup.canAct || opening === undefined || !('body' in opening)) return;
    if (opening.details.summary.method !== 'POST') return;
    const reason = uneditableReason(opening.body);
    if (reason === undefined) setDraft(draftOf(opening, setup.canSign));
    else setNotice(reason);
  };
  return { draft, setDraft, toggleEdit };
}
