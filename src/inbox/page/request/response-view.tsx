import type { JSX } from 'preact';
import { printable } from '../../../redact.ts';
import type { Details } from '../../wire.ts';
import { millisecondsText } from '../summary-texts.ts';
import { HeaderTable } from './header-table.tsx';

/** What a request was responded with: status, headers and body. */
export function ResponseView({ details }: { readonly details: Details }): JSX.Element {
  const { response, forwarded, summary } = details;
  const { status, answered, ms } = summary;
  return (
    <div class="pane" tabIndex={0} role="region" aria-label="Response">
      <p class="remark">
        <strong>{status ?? 'No response'}</strong> after {millisecondsText(ms)}
        {answered !== 'status' && `: ${ENDS[answered]}`}
        {forwarded?.status !== undefined &&
          status === forwarded.status &&
          ', as the other receiver responded'}
      </p>
      {response !== undefined && <HeaderTable headers={response.headers} />}
      {response !== undefined && response.body !== '' && (
        <pre class="response-text">
          {response.body
            .split('\n')
            .map((line) => printable(line, 2_000))
            .join('\n')}
        </pre>
      )}
    </div>
  );
}

const ENDS = {
  'slow-body': 'the headers at once, then a body without end',
  reset: 'the connection was reset',
  timeout: 'nothing was sent until the sender left',
  nothing: 'the sender left before it was due',
} as const;
