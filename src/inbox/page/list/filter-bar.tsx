import type { JSX, RefObject } from 'preact';
import { useMemo } from 'preact/hooks';
import type { RequestSummary } from '../../wire.ts';
import { NO_TYPE, typesOfRequest, type RequestFilter } from './filter.ts';

interface FilterBarProps {
  readonly filter: RequestFilter;
  readonly onFilter: (filter: RequestFilter) => void;
  readonly requests: readonly RequestSummary[];
  /** Number of requests that pass the filter. */
  readonly shown: number;
  readonly searchRef: RefObject<HTMLInputElement | null>;
  /** Whether this page may export and clear. */
  readonly canAct: boolean;
  readonly onExport: () => void;
  readonly onClear: () => void;
}

const VERDICTS = ['valid', 're-serialized', 'invalid', 'unsigned', 'unchecked'];

export function FilterBar(props: FilterBarProps): JSX.Element {
  const { filter, onFilter, requests, shown, searchRef, canAct, onExport, onClear } = props;
  const types = useMemo(() => typesOf(requests), [requests]);
  return (
    <div class="filter" role="search">
      <label class="sr" for="search">
        Search
      </label>
      <input
        ref={searchRef}
        id="search"
        type="search"
        autocomplete="off"
        spellcheck={false}
        placeholder="Search events, users, bodies…"
        value={filter.text}
        onInput={({ currentTarget: { value } }) => onFilter({ ...filter, text: value })}
      />
      <kbd aria-hidden="true">/</kbd>
      <Choice
        label="Type"
        all="All types"
        value={filter.type}
        choices={types}
        onChoice={(type) => onFilter({ ...filter, type })}
      />
      <Choice
        label="Signature"
        all="Any signature"
        value={filter.verdict}
        choices={VERDICTS.map((verdict) => [verdict, verdict])}
        onChoice={(verdict) => onFilter({ ...filter, verdict })}
      />
      <output class="shown">
        {shown === requests.length
          ? many(shown)
          : `${shown.toLocaleString('en')} of ${many(requests.length)}`}
      </output>
      <div class="list-actions">
        <button type="button" disabled={!canAct || shown === 0} onClick={onExport}>
          Export
        </button>
        <button type="button" disabled={!canAct || requests.length === 0} onClick={onClear}>
          Clear…
        </button>
      </div>
      {!canAct && (
        <p class="muted">
          This page only reads. To export, edit, replay elsewhere or change responses, open the whole address
          that <code>hooks listen</code> printed, with its token.
        </p>
      )}
    </div>
  );
}

function many(count: number): string {
  return `${count.toLocaleString('en')} request${count === 1 ? '' : 's'}`;
}

function typesOf(requests: readonly RequestSummary[]): (readonly [value: string, name: string])[] {
  const types = new Set(requests.flatMap(typesOfRequest));
  // Limited, because senders can invent any number of types.
  return [...types]
    .slice(0, 50)
    .toSorted()
    .map((type) => [type, type === NO_TYPE ? 'no type' : type]);
}

interface ChoiceProps {
  readonly label: string;
  readonly all: string;
  readonly value: string;
  readonly choices: readonly (readonly [value: string, name: string])[];
  readonly onChoice: (value: string) => void;
}

function Choice({ label, all, value, choices, onChoice }: ChoiceProps): JSX.Element {
  return (
    <select
      aria-label={label}
      class={value === '' ? '' : 'chosen'}
      value={value}
      onChange={({ currentTarget }) => onChoice(currentTarget.value)}
    >
      <option value="">{all}</option>
      {choices.map(([each, name]) => (
        <option key={each} value={each}>
          {name}
        </option>
      ))}
    </select>
  );
}
