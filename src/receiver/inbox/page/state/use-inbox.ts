import type { RefObject } from 'preact';
import { useEffect, useMemo, useRef, useState } from 'preact/hooks';
import type { Setup, RequestSummary } from '../../wire.ts';
import { createApi, messageOf, type Api } from './api.ts';
import { RequestFeed, NOTHING, type ArrivedRequests } from './arrivals.ts';
import { copiedText, type CopiedForm } from './copies.ts';
import { EVERYTHING, filtered, wordsOf, type RequestFilter } from '../list/filter.ts';
import { useBodySearch, useOpened, type Opened, type Opening } from './opened.ts';
import type { Tab } from '../request/tabs.tsx';

/** All that the page is showing, and what changes it. */
export interface InboxState {
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
  readonly opening: Opening;
  /** The one that others are compared with. */
  readonly markedId: number | undefined;
  /** Marks the selected one, or takes the mark away. */
  readonly toggleMark: () => void;
  readonly endComparing: () => void;
  /** What the selected one is compared with now. */
  readonly compared: Opened | undefined;
  readonly tab: Tab;
  readonly setTab: (tab: Tab) => void;
  readonly replayUrl: string;
  readonly setReplayUrl: (url: string) => void;
  readonly copy: (what: CopiedForm) => void;
  /** Said for a moment. */
  readonly notice: string;
  readonly searchRef: RefObject<HTMLInputElement | null>;
  readonly formRef: RefObject<HTMLFormElement | null>;
}

export function useInbox(setup: Setup): InboxState {
  const api = useMemo(() => createApi(setup), [setup]);
  const arrived = useArrived(setup.token);
  const [filter, setFilter] = useState(EVERYTHING);
  const [selectedId, select] = useState<number>();
  const [markedId, setMarkedId] = useState<number>();
  const [tab, setTab] = useState<Tab>('tree');
  const [replayUrl, setReplayUrl] = useState(setup.forwardUrl ?? '');
  const [notice, setNotice] = useNotice();
  const shown = useShown(api, arrived, filter);
  const marked = useOpened(api, markedId);
  const isComparing = markedId !== selectedId && marked !== undefined && 'body' in marked;
  const copy = async (what: CopiedForm): Promise<void> => {
    if (selectedId === undefined) return;
    try {
      await copyText(await copiedText(what, { api, id: selectedId, url: replayUrl, setup }));
      setNotice(`Copied as ${what}`);
    } catch (error) {
      setNotice(`Not copied: ${messageOf(error)}`);
    }
  };
  return {
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
    opening: useOpened(api, selectedId),
    compared: isComparing ? marked : undefined,
    toggleMark: () => setMarkedId(markedId === selectedId ? undefined : selectedId),
    endComparing: () => setMarkedId(undefined),
    step: (by) => select((now) => stepped(shown, now, by)),
    copy: (what) => void copy(what),
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

/** Rejects, with the reason, where the browser does not allow it. */
async function copyText(text: string): Promise<void> {
  // Browsers have it only for https and for this machine.
  if (window.isSecureContext) return navigator.clipboard.writeText(text);
  const field = document.createElement('textarea');
  field.value = text;
  document.body.append(field);
  field.select();
  // Deprecated, but the only way in an insecure context.
  const isCopied = document.execCommand('copy');
  field.remove();
  if (!isCopied) throw new Error('the browser does not let the page copy');
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
