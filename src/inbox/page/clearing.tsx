import type { JSX } from 'preact';
import { Dialog } from './dialog.tsx';
import { requestsText } from './summary-texts.ts';

interface ClearingProps {
  readonly count: number;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly onClear: () => void;
}

/** Asks before all requests are removed, because that cannot be undone. */
export function Clearing({ count, isOpen, onClose, onClear }: ClearingProps): JSX.Element {
  const what = count === 1 ? 'the request' : `all ${requestsText(count)}`;
  return (
    <Dialog id="clearing-title" title={`Clear ${what}?`} isOpen={isOpen} onClose={onClose}>
      <p>
        They are removed from the inbox, for every page that has it open. Files of <code>--save</code> stay.
      </p>
      <p class="dialog-actions">
        <button type="button" class="primary" onClick={onClear}>
          Clear
        </button>
      </p>
    </Dialog>
  );
}
