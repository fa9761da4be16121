import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import type { RequestSummary } from '../../wire.ts';
import type { InboxState } from '../state/use-inbox.ts';
import { requestsText } from '../summary-texts.ts';
import { NO_TYPE, typesOfRequest } from './filter.ts';

interface FilterBarProps {
  readonly inbox: InboxState;
  readonly onClear: () => void;
}

const VERDICTS = ['valid', 're-serialized', 'invalid', 'unsigned', 'unchecked'];

export function FilterBar({ inbox, onClear }: FilterBarProps): JSX.Element {
  const { filter, setFilter, searchRef } = inbox;
  const { requests } = inbox.arrived;
  const { canAct } = inbox.setup;
  const shown = inbox.shown.length;
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
        onInput={({ currentTarget: { value } }) => setFilter({ ...filter, text: value })}
      />
      <kbd aria-hidden="true">/</kbd>
      <Choice
        label="Type"
        all="All types"
        value={filter.type}
        choices={types}
        onChoice={(type) => setFilter({ ...filter, type })}
      />
      <Choice
        label="Signature"
        all="Any signature"
        value={filter.verdict}
        choices={VERDICTS.map((verdict) => [verdict, verdict])}
        onChoice={(verdict) => setFilter({ ...filter, verdict })}
      />
      <output class="shown">
        {shown === requests.length
          ? requestsText(shown)
          : `${shown.toLocaleString('en')} of ${requestsText(requests.length)}`}
      </output>
      <div class="list-actions">
        <button type="button" disabled={!canAct || shown === 0} onClick={inbox.exportShown}>
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

function typesOf(requests: readonly RequestSummary[]): (readonly [value: string, name: string])[] {
  const types = new Set(requests.flatMap(typesOfRequest));
  // Limits the choices of the type filter, because senders can invent any number of types.
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
