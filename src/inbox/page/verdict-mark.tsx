import type { JSX } from 'preact';
import type { ShownVerdict } from './summary-texts.ts';

/** Shapes distinguish verdicts for readers who do not see colors. */
const SHAPES: Readonly<Record<ShownVerdict, string>> = {
  valid: 'M4.5 8.3l2.4 2.4 4.6-5',
  're-serialized': 'M4.3 9.1c1.2-2.4 2.5-2 3.7-1s2.5 1.3 3.7-1.1',
  invalid: 'M5.3 5.3l5.4 5.4M10.7 5.3l-5.4 5.4',
  unsigned: 'M8 4.6v4M8 11.2v.2',
  unchecked: 'M5 8h6',
};

export function VerdictMark({ verdict }: { readonly verdict: ShownVerdict }): JSX.Element {
  return (
    <svg class={`mark ${verdict}`} viewBox="0 0 16 16" role="img" aria-label={verdict}>
      <title>{verdict}</title>
      <circle cx="8" cy="8" r="7" />
      <path d={SHAPES[verdict]} />
    </svg>
  );
}
