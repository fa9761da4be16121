import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { printable } from '../../../redact.ts';
import { differences, MAX_DIFFERENCES, places } from './difference.ts';
import type { FullRequest } from '../full-request.ts';
import { timeOf, requestTitleOf } from '../summary-texts.ts';

interface ComparisonProps {
  readonly one: FullRequest;
  readonly other: FullRequest;
  readonly onEnd: () => void;
}

/** Two requests side by side: only their differences, or everything. */
export function Comparison({ one, other, onEnd }: ComparisonProps): JSX.Element {
  const [isWhole, setWhole] = useState(false);
  const found = useMemo(() => differences(one, other), [one, other]);
  const shown = useMemo(
    () => (isWhole ? places(one, other).slice(0, MAX_DIFFERENCES) : found),
    [one, other, isWhole, found],
  );
  return (
    <section class="comparison" aria-label="Comparison">
      <header>
        <h3>
          {found.length === 0
            ? 'No difference'
            : `${found.length}${found.length === MAX_DIFFERENCES ? ' or more' : ''} ${found.length === 1 ? 'difference' : 'differences'}`}
        </h3>
        <label class="choice">
          <input
            type="checkbox"
            checked={isWhole}
            onChange={({ currentTarget: { checked } }) => setWhole(checked)}
          />
          Show all
        </label>
        <button type="button" onClick={onEnd}>
          Stop comparing
        </button>
      </header>
      <div class="pane" tabIndex={0} role="region" aria-label="Differences">
        <table>
          <thead>
            <tr>
              <th scope="col">Where</th>
              <SideHead side={one} />
              <SideHead side={other} />
            </tr>
          </thead>
          <tbody>
            {shown.map((each) => (
              <tr key={each.where}>
                <th scope="row">{printable(each.where)}</th>
                <Cell text={each.one} kind={each.one === each.other ? 'same' : 'one'} />
                <Cell text={each.other} kind={each.one === each.other ? 'same' : 'other'} />
              </tr>
            ))}
          </tbody>
        </table>
      </div>
    </section>
  );
}

function SideHead({ side: { details } }: { readonly side: FullRequest }): JSX.Element {
  return (
    <th scope="col">
      <bdi>{requestTitleOf(details.summary)}</bdi> <span class="muted">{timeOf(details.summary)}</span>
    </th>
  );
}

function Cell({
  text,
  kind,
}: {
  readonly text: string | undefined;
  readonly kind: 'one' | 'other' | 'same';
}): JSX.Element {
  if (text === undefined) return <td class="absent">not there</td>;
  return (
    <td class={kind}>
      <bdi>{printable(text, 1_000)}</bdi>
    </td>
  );
}
