import type { JSX } from 'preact';
import { useRef } from 'preact/hooks';
import { printable } from '../../../redact.ts';
import type { RequestSummary } from '../../wire.ts';
import type { InboxState } from '../state/use-inbox.ts';
import { VerdictMark } from '../verdict-mark.tsx';
import { Windowed } from '../windowed.tsx';
import {
  aboutOf,
  shownVerdictOf,
  spokenSummary,
  statusOf,
  timeOf,
  requestTitleOf,
} from '../summary-texts.ts';

const ROW_HEIGHT = 58;

export function RequestList({ inbox }: { readonly inbox: InboxState }): JSX.Element {
  const { shown: requests, selectedId, markedId, select } = inbox;
  const active = requests.findIndex(({ id }) => id === selectedId);
  const grownOnTop = useGrowth(requests);
  const row = (index: number): JSX.Element | undefined => {
    const request = requests[index];
    return (
      request && (
        <Row
          key={request.id}
          request={request}
          place={[index + 1, requests.length]}
          isSelected={request.id === selectedId}
          isCompared={request.id === markedId}
          onSelect={select}
        />
      )
    );
  };
  return (
    <Windowed
      count={requests.length}
      rowHeight={ROW_HEIGHT}
      row={row}
      active={active < 0 || selectedId === undefined ? undefined : { index: active, key: selectedId }}
      grownOnTop={grownOnTop}
      attributes={{
        id: 'requests',
        class: 'requests',
        role: 'listbox',
        tabIndex: 0,
        'aria-label': 'Requests, newest first',
        ...(active >= 0 && { 'aria-activedescendant': `request-${selectedId}` }),
      }}
    />
  );
}

/** Number of rows that were added on top since the last render. */
function useGrowth(requests: readonly RequestSummary[]): number {
  const before = useRef<RequestSummary | undefined>(undefined);
  const known = before.current;
  before.current = requests[0];
  if (known === undefined) return 0;
  const index = requests.indexOf(known);
  return Math.max(index, 0);
}

interface RowProps {
  readonly request: RequestSummary;
  readonly place: readonly [number, number];
  readonly isSelected: boolean;
  readonly isCompared: boolean;
  readonly onSelect: (id: number) => void;
}

function Row({ request, place: [position, count], isSelected, isCompared, onSelect }: RowProps): JSX.Element {
  const { id, path, type, messages } = request;
  // The path is shown here only if the title is a type, an event or a number of messages: otherwise the title has the path.
  const isNamed = type !== undefined || messages !== undefined;
  const verdict = shownVerdictOf(request);
  return (
    <div
      id={`request-${id}`}
      class="request"
      role="option"
      aria-selected={isSelected}
      aria-posinset={position}
      aria-setsize={count}
      aria-label={spokenSummary(request)}
      onClick={() => onSelect(id)}
    >
      <VerdictMark verdict={verdict} />
      <span class="title">
        <bdi>{requestTitleOf(request)}</bdi>
        {isCompared && <span class="chip">compared</span>}
      </span>
      <span class="response">
        <span class={`word ${verdict}`}>{verdict}</span>
        <Status request={request} />
      </span>
      <span class="about">
        {aboutOf(request).map((text, index) => (
          <bdi key={index}>{text}</bdi>
        ))}
        {isNamed && <bdi class="path">{printable(path)}</bdi>}
      </span>
      <time class="time">{timeOf(request)}</time>
    </div>
  );
}

export function Status({ request }: { readonly request: RequestSummary }): JSX.Element {
  const { status } = request;
  const kind = status === null ? 'none' : status < 300 ? 'good' : status < 500 ? 'rejected' : 'bad';
  return <span class={`status ${kind}`}>{statusOf(request)}</span>;
}
