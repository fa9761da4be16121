import type { JSX } from 'preact';
import { printable } from '../../redact.ts';
import type { FeedState } from './state/arrivals.ts';
import type { InboxState } from './state/use-inbox.ts';

export const CONNECTION_TEXTS: Readonly<Record<FeedState, string>> = {
  connecting: 'Connecting…',
  live: 'Live',
  lost: 'Connection lost, trying again…',
  gone: 'Ended',
};

interface TopBarProps {
  readonly inbox: InboxState;
  readonly onHelp: () => void;
  readonly onResponds: () => void;
}

export function TopBar({ inbox, onHelp, onResponds }: TopBarProps): JSX.Element {
  const { setup, arrived, copyText } = inbox;
  const responds = arrived.respond || (setup.forwardUrl === undefined ? '200' : 'as forwarded');
  return (
    <header class="top">
      <h1>
        <svg viewBox="0 0 16 16" aria-hidden="true">
          <path d="M2 9l2-6h8l2 6v4H2z M2 9h3.5a2.5 2.5 0 0 0 5 0H14" />
        </svg>
        Inbox
      </h1>
      <p class="addresses">
        <code>{setup.receiverUrl}</code>
        <button
          type="button"
          aria-label="Copy the address"
          onClick={() => copyText(setup.receiverUrl, 'address')}
        >
          Copy
        </button>
        {setup.forwardUrl !== undefined && (
          <>
            <span aria-label="forwards to"> → </span>
            <code>{setup.forwardUrl}</code>
          </>
        )}
      </p>
      <button
        type="button"
        class="responds"
        aria-label={`Responses: ${printable(responds)}`}
        disabled={!setup.canAct}
        onClick={onResponds}
      >
        <span class="muted" aria-hidden="true">
          Responds{' '}
        </span>
        <code>{printable(responds)}</code>
      </button>
      <p class={`connection ${arrived.connection}`} role="status">
        {CONNECTION_TEXTS[arrived.connection]}
      </p>
      <button type="button" class="help-button" aria-label="Keys and search" onClick={onHelp}>
        ?
      </button>
    </header>
  );
}

/** Alert below the bar after `hooks listen` has ended. */
export function Ended(): JSX.Element {
  return (
    <div class="ended" role="alert">
      <p>
        <strong>hooks listen has ended or was restarted.</strong> The list still shows the requests so far;
        their bodies are no longer available.
      </p>
      <button type="button" onClick={() => window.location.reload()}>
        Reload
      </button>
    </div>
  );
}

/** Placeholder of the list before the first request. */
export function NothingYet({ setup, copyText }: Pick<InboxState, 'setup' | 'copyText'>): JSX.Element {
  const scheme = setup.sendBy === undefined ? '' : ` --scheme ${setup.sendBy}`;
  const secret = setup.hasSecret ? ` \\\n  --secret-file -${scheme}` : '';
  const command = `${setup.programName} send track --event Signup \\\n  --url ${setup.receiverUrl}${secret}`;
  return (
    <div class="nothing">
      <h2>No requests yet</h2>
      <p>Requests to this address appear here at once:</p>
      <pre>{setup.receiverUrl}</pre>
      <p>Try:</p>
      <pre>{command}</pre>
      <button type="button" onClick={() => copyText(command, 'command')}>
        Copy the command
      </button>
      {setup.hasSecret && <p>It asks for the secret, and does not show what you type.</p>}
    </div>
  );
}
