import type { JSX } from 'preact';
import { Dialog, type DialogState } from './dialog.tsx';
import type { InboxState } from './state/use-inbox.ts';
import { requestsText } from './summary-texts.ts';

interface ClearingProps extends DialogState {
  readonly inbox: InboxState;
}

/** Asks before all requests are removed, because that cannot be undone. */
export function Clearing({ inbox, isOpen, onClose }: ClearingProps): JSX.Element {
  const count = inbox.arrived.requests.length;
  const what = count === 1 ? 'the request' : `all ${requestsText(count)}`;
  return (
    <Dialog id="clearing-title" title={`Clear ${what}?`} isOpen={isOpen} onClose={onClose}>
      <p>
        They are removed from the inbox, for every page that has it open. Files of <code>--save</code> stay.
      </p>
      <p class="dialog-actions">
        <button
          type="button"
          class="primary"
          onClick={() => {
            onClose();
            inbox.clear();
          }}
        >
          Clear
        </button>
      </p>
    </Dialog>
  );
}
