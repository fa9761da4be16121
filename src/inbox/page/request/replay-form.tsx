import type { JSX } from 'preact';
import { useState } from 'preact/hooks';
import type { Forwarded } from '../../../receiver/response/forwarding.ts';
import type { EditedRequest, RequestSummary } from '../../wire.ts';
import { printable } from '../../../redact.ts';
import { messageOf } from '../../../errors.ts';
import type { InboxState } from '../state/use-inbox.ts';
import { FieldError, invalidField } from '../field-error.tsx';
import { ActionError } from '../state/api.ts';
import { millisecondsText, printableLines } from '../summary-texts.ts';
import { HeaderTable } from './header-table.tsx';

export interface ReplayFormProps {
  readonly inbox: InboxState;
  readonly summary: RequestSummary;
  /** Returns the edited request. Undefined if the request is not being edited. */
  readonly edited: (() => EditedRequest) | undefined;
  /** The error of the URL. Empty if there is none. */
  readonly error: string;
  /** Receives the error of a field when the request was sent or the URL was edited. */
  readonly onError: (error: FieldProblem | undefined) => void;
}

const FIELDS = ['url', 'headers'] as const;

/** The error of a field of the request to replay. */
export interface FieldProblem {
  /** Id of the request. */
  readonly id: number;
  readonly field: (typeof FIELDS)[number];
  readonly text: string;
}

type ReplayOutcome =
  { readonly forwarded: Forwarded } | { readonly failure: string } | 'in flight' | undefined;

/**
 * Sends the request again, unchanged or edited, and shows the response. The caller sets a `key`, so that each request has
 * its own form.
 */
export function ReplayForm({ inbox, summary, edited, error, onError }: ReplayFormProps): JSX.Element {
  const { api, replayUrl: url, setReplayUrl, setup, formRef } = inbox;
  const [outcome, setOutcome] = useState<ReplayOutcome>();
  // A page without the printed token may only replay to the forwarding URL.
  const mayGo = setup.canAct || (setup.forwardUrl !== undefined && ['', setup.forwardUrl].includes(url));
  // Only POSTs can be replayed.
  const isReady = summary.method === 'POST' && mayGo && outcome !== 'in flight';
  const replay = async (): Promise<void> => {
    setOutcome('in flight');
    const body = { ...(url !== '' && { url }), ...(edited !== undefined && { edited: edited() }) };
    onError(undefined);
    const ended = await outcomeOf(api.replay(summary.id, body));
    if ('field' in ended) onError({ id: summary.id, ...ended });
    setOutcome('field' in ended ? undefined : ended);
  };
  return (
    <form
      ref={formRef}
      class="replay"
      onSubmit={(event) => {
        event.preventDefault();
        // The Enter key can submit the form while the button is disabled.
        if (isReady) void replay();
      }}
    >
      <label class="sr" for="replay-url">
        Replay to
      </label>
      <input
        id="replay-url"
        type="text"
        inputMode="url"
        autocomplete="off"
        spellcheck={false}
        placeholder="localhost:3000/webhook"
        value={url}
        onInput={({ currentTarget: { value } }) => {
          setReplayUrl(value);
          onError(undefined);
        }}
        {...invalidField('replay-url', error)}
      />
      <button type="submit" class="primary" disabled={!isReady}>
        {edited === undefined ? 'Replay' : 'Send edited'}
      </button>
      <FieldError field="replay-url" error={error} />
      <p class="outcome" role="status">
        {outcome !== undefined && <OutcomeText outcome={outcome} />}
      </p>
    </form>
  );
}

async function outcomeOf(
  replayed: Promise<Forwarded>,
): Promise<Exclude<ReplayOutcome, undefined | 'in flight'> | Omit<FieldProblem, 'id'>> {
  try {
    return { forwarded: await replayed };
  } catch (error) {
    const field = error instanceof ActionError && FIELDS.find((each) => each === error.field);
    return field ? { field, text: messageOf(error) } : { failure: messageOf(error) };
  }
}

function OutcomeText({ outcome }: { readonly outcome: Exclude<ReplayOutcome, undefined> }): JSX.Element {
  if (outcome === 'in flight') return <span class="muted">Sending…</span>;
  if ('failure' in outcome) return <span class="bad">{printable(outcome.failure)}</span>;
  return <ForwardedText what="Replayed to" forwarded={outcome.forwarded} />;
}

/** Shows the response of another receiver to a forwarded or replayed request. */
export function ForwardedText({
  what,
  forwarded,
}: {
  readonly what: string;
  readonly forwarded: Forwarded;
}): JSX.Element {
  const { url, status, error, detail, headers, reply, says, hint, ms } = forwarded;
  const isGood = status !== undefined && status < 300;
  return (
    <>
      {what} <code>{printable(url)}</code>: <strong class={isGood ? 'good' : 'bad'}>{status ?? error}</strong>{' '}
      in {millisecondsText(ms)}
      {detail !== undefined && `, ${printable(detail)}`}
      {reply !== undefined && <Reply text={reply} />}
      {says !== undefined && <span class="cause">Cause: {printable(says, 2_000)}</span>}
      {hint !== undefined && <span class="cause">Fix: {printable(hint, 2_000)}</span>}
      {headers !== undefined && Object.keys(headers).length > 0 && (
        <details>
          <summary>Headers of the response</summary>
          <HeaderTable headers={Object.entries(headers)} />
        </details>
      )}
    </>
  );
}

/** Maximum length of a response that is shown inline. */
const SHORT = 80;

function Reply({ text }: { readonly text: string }): JSX.Element {
  const trimmed = text.trimEnd();
  if (!trimmed.includes('\n') && text.length <= SHORT) {
    return (
      <>
        , saying <code>{printable(trimmed)}</code>
      </>
    );
  }
  return <pre class="response-text">{printableLines(text.trimEnd())}</pre>;
}
