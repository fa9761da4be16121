import type { RefObject } from 'preact';
import { useMemo, useRef, useState } from 'preact/hooks';
import type { Setup, RequestSummary } from '../wire.ts';
import { createApi, messageOf, type Api } from './api.ts';
import type { ArrivedRequests } from './arrivals.ts';
import { copyText } from './clipboard.ts';
import { asCurl, asFixture } from './copies.ts';
import { EVERYTHING, filtered, wordsOf, type RequestFilter } from './filter.ts';
import { useBodySearch, useOpened, type Opened, type Opening } from './opened.ts';
import type { Tab } from './tabs.tsx';
import { useArrived } from './use-arrived.ts';
import { useNotice } from './use-notice.ts';

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
  readonly copy: (what: Copied) => void;
  /** Said for a moment. */
  readonly notice: string;
  readonly searchRef: RefObject<HTMLInputElement | null>;
  readonly formRef: RefObject<HTMLFormElement | null>;
}

export type Copied = 'curl' | 'fixture' | 'capture';

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
  const copy = async (what: Copied): Promise<void> => {
    if (selectedId === undefined) return;
    try {
      await copyText(await textOf(what, { api, id: selectedId, url: replayUrl, setup }));
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

interface CopyContext {
  readonly api: Api;
  readonly id: number;
  /** Where a replay goes; empty where none was named. */
  readonly url: string;
  readonly setup: Setup;
}

async function textOf(what: Copied, { api, id, url, setup }: CopyContext): Promise<string> {
  const capture = await api.capture(id);
  switch (what) {
    case 'curl':
      return asCurl(capture, url === '' ? `${setup.receiverUrl}${capture.url}` : url);
    case 'fixture':
      return asFixture(capture);
    case 'capture':
      return `${JSON.stringify(capture)}\n`;
    default:
      return what satisfies never;
  }
}
