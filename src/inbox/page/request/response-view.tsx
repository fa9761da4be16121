import type { JSX } from 'preact';
import type { Details } from '../../wire.ts';
import { millisecondsText, printableLines } from '../summary-texts.ts';
import { HeaderTable } from './header-table.tsx';

/** The response to a request: status, headers and body. */
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
        <pre class="response-text">{printableLines(response.body)}</pre>
      )}
    </div>
  );
}

const ENDS = {
  'slow-body': 'the headers at once, then an endless body',
  reset: 'the connection was reset',
  timeout: 'nothing was sent until the sender left',
  nothing: 'the sender left before the response was due',
} as const;
