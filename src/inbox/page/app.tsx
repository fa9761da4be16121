import type { JSX } from 'preact';
import { useRef, useState } from 'preact/hooks';
import type { Setup } from '../wire.ts';
import { Announcer } from './list/announcer.tsx';
import { FilterBar } from './list/filter-bar.tsx';
import { EVERYTHING } from './list/filter.ts';
import { Clearing } from './clearing.tsx';
import { Help } from './help.tsx';
import { Responses } from './responses.tsx';
import { NARROW } from './state/route.ts';
import { requestTitleOf, timeOf } from './summary-texts.ts';
import { useKeys, type Keys } from './state/keyboard.ts';
import type { FullRequest } from './full-request.ts';
import { OpenedRequest } from './request/opened-request.tsx';
import { RequestList } from './list/request-list.tsx';
import { TABS } from './request/tabs.tsx';
import { CONNECTION_TEXTS, Ended, NothingYet, TopBar } from './top-bar.tsx';
import { useInbox, type InboxState } from './state/use-inbox.ts';

/** The inbox: the list of received requests, and the open request. */
export function App({ setup }: { readonly setup: Setup }): JSX.Element {
  const inbox = useInbox(setup);
  const [dialog, setDialog] = useState<'help' | 'responses' | 'clearing'>();
  const close = (): void => setDialog(undefined);
  useKeys({ ...keysOf(inbox), '?': () => setDialog('help') });
  const { arrived, notice, selectedId } = inbox;
  return (
    <div class={`app${selectedId === undefined ? '' : ' reading'}`}>
      <TopBar inbox={inbox} onHelp={() => setDialog('help')} onResponds={() => setDialog('responses')} />
      {arrived.connection === 'gone' && <Ended />}
      <main>
        <Sidebar inbox={inbox} onClear={() => setDialog('clearing')} />
        <section class="main" aria-label="Request">
          <button type="button" class="back" onClick={() => inbox.select(undefined)}>
            ← All requests
          </button>
          {selectedId === undefined ? (
            <p class="choose">
              Choose a request to read it. Press <kbd>?</kbd> for the keys.
            </p>
          ) : (
            <Reading inbox={inbox} />
          )}
        </section>
      </main>
      <p class={`notice${notice === '' ? '' : ' on'}`} role="status">
        {notice}
      </p>
      <Announcer arrived={arrived} />
      <Help isOpen={dialog === 'help'} onClose={close} />
      <Responses inbox={inbox} isOpen={dialog === 'responses'} onClose={close} />
      <Clearing inbox={inbox} isOpen={dialog === 'clearing'} onClose={close} />
    </div>
  );
}

interface WithInbox {
  readonly inbox: InboxState;
}

interface SidebarProps extends WithInbox {
  readonly onClear: () => void;
}

function Sidebar({ inbox, onClear }: SidebarProps): JSX.Element {
  const { arrived, setFilter, setup, shown } = inbox;
  const { requests, evicted } = arrived;
  return (
    <nav class="side" aria-label="Requests">
      <FilterBar inbox={inbox} onClear={onClear} />
      {inbox.markedId !== undefined && <Choosing inbox={inbox} />}
      {requests.length === 0 && arrived.startId === undefined && (
        <p class="nothing">{CONNECTION_TEXTS[arrived.connection]}</p>
      )}
      {requests.length === 0 && arrived.startId !== undefined && (
        <NothingYet setup={setup} copyText={inbox.copyText} />
      )}
      {requests.length > 0 && shown.length === 0 && (
        <div class="nothing">
          <h2>No request matches</h2>
          <button type="button" onClick={() => setFilter(EVERYTHING)}>
            Show all
          </button>
        </div>
      )}
      {shown.length > 0 && <RequestList inbox={inbox} />}
      {evicted > 0 && (
        <p class="evicted">
          {evicted.toLocaleString('en')} older {evicted === 1 ? 'request was' : 'requests were'} evicted.{' '}
          <code>--save</code> saves them all.
        </p>
      )}
    </nav>
  );
}

/** Bar above the list while the user chooses a request to compare with the marked one. */
function Choosing({ inbox: { markedId, arrived, endComparing } }: WithInbox): JSX.Element {
  const marked = arrived.requests.find(({ id }) => id === markedId);
  return (
    <div class="choosing">
      <p>
        Comparing with{' '}
        <strong>
          <bdi>{marked === undefined ? `request ${markedId}` : requestTitleOf(marked)}</bdi>
        </strong>
        {marked !== undefined && ` of ${timeOf(marked)}`}: choose another request.
      </p>
      <button type="button" onClick={endComparing}>
        Cancel
      </button>
    </div>
  );
}

function Reading({ inbox }: WithInbox): JSX.Element {
  const { opening } = inbox;
  // Shows the last request until the next is loaded, so that the page does not flicker.
  const last = useRef<FullRequest | undefined>(undefined);
  if (opening !== undefined && 'failure' in opening) {
    return <p class="choose">Cannot show this request: {opening.failure}.</p>;
  }
  if (opening !== undefined) last.current = opening;
  return last.current === undefined ? (
    <p class="choose">Loading…</p>
  ) : (
    <OpenedRequest inbox={inbox} opened={last.current} />
  );
}

function keysOf(inbox: InboxState): Keys {
  const { shown, step, searchRef, formRef } = inbox;
  const [next, previous] = [() => step(1), () => step(-1)];
  const [newest, oldest] = [() => step(-shown.length), () => step(shown.length)];
  const tabs = TABS.map(([tab], index) => [index + 1, () => inbox.setTab(tab)] as const);
  return {
    j: next,
    ArrowDown: next,
    k: previous,
    ArrowUp: previous,
    g: newest,
    Home: newest,
    G: oldest,
    End: oldest,
    ...Object.fromEntries(tabs),
    '/': () => {
      searchRef.current?.focus();
      searchRef.current?.select();
    },
    Enter: () => {
      if (inbox.selectedId === undefined) step(0);
      document.getElementById('opened-title')?.focus();
    },
    Escape: () => goBack(inbox),
    r: () => formRef.current?.requestSubmit(),
    e: inbox.toggleEdit,
    d: inbox.toggleMark,
    c: () => inbox.copy('curl'),
    f: () => inbox.copy('fixture'),
    l: () => inbox.copy('link'),
  };
}

/**
 * Takes one step back. In the search field: clears its text, or moves the focus to the list if there is no text. Elsewhere:
 * ends the edit, else the comparison, else moves the focus to the list. From the list, or on a narrow screen, also deselects
 * the request.
 */
function goBack(inbox: InboxState): void {
  const { searchRef, filter, setFilter, markedId, endComparing, select, draft, toggleEdit } = inbox;
  const list = document.getElementById('requests');
  const isInSearch = document.activeElement === searchRef.current;
  if (isInSearch && filter.text !== '') return setFilter({ ...filter, text: '' });
  if (!isInSearch && draft !== undefined) return toggleEdit();
  if (!isInSearch && markedId !== undefined) return endComparing();
  if (document.activeElement === list || window.matchMedia(NARROW).matches) select(undefined);
  list?.focus();
}
