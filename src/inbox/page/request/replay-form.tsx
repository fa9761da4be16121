import type { JSX, RefObject } from 'preact';
import { useState } from 'preact/hooks';
import type { Forwarded } from '../../../receiver/response/forwarding.ts';
import type { EditedRequest, Setup } from '../../wire.ts';
import { printable } from '../../../redact.ts';
import { messageOf } from '../../../errors.ts';
import type { Api } from '../state/api.ts';
import { millisecondsText } from '../summary-texts.ts';
import { HeaderTable } from './header-table.tsx';

interface ReplayFormProps {
  readonly api: Api;
  readonly id: number;
  /** Where to; kept from one request to the next. */
  readonly url: string;
  readonly onUrl: (url: string) => void;
  /** Only what came as POST is sent again. */
  readonly isPost: boolean;
  readonly setup: Setup;
  readonly formRef: RefObject<HTMLFormElement | null>;
  /** What is sent in place of the request as it came. */
  readonly edited: (() => EditedRequest) | undefined;
}

type ReplayOutcome =
  { readonly forwarded: Forwarded } | { readonly failure: string } | 'in flight' | undefined;

/** Sends the request again, byte by byte or edited, and shows the response. Its key gives each request a separate form. */
export function ReplayForm(props: ReplayFormProps): JSX.Element {
  const { api, id, url, onUrl, isPost, setup, formRef, edited } = props;
  const [outcome, setOutcome] = useState<ReplayOutcome>();
  // A page without the token sends what came to where it goes anyway, and nowhere else.
  const mayGo = setup.canAct || (setup.forwardUrl !== undefined && ['', setup.forwardUrl].includes(url));
  const isReady = isPost && mayGo && outcome !== 'in flight';
  const replay = async (): Promise<void> => {
    setOutcome('in flight');
    const wish = { ...(url !== '' && { url }), ...(edited !== undefined && { edited: edited() }) };
    setOutcome(await outcomeOf(api.replay(id, wish)));
  };
  return (
    <form
      ref={formRef}
      class="replay"
      onSubmit={(event) => {
        event.preventDefault();
        // A key submits it whether or not the button may be pressed.
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
        onInput={({ currentTarget: { value } }) => onUrl(value)}
      />
      <button type="submit" class="primary" disabled={!isReady}>
        {edited === undefined ? 'Replay' : 'Send edited'}
      </button>
      <p class="outcome" role="status">
        {outcome !== undefined && <OutcomeText outcome={outcome} />}
      </p>
    </form>
  );
}

async function outcomeOf(replayed: Promise<Forwarded>): Promise<ReplayOutcome> {
  try {
    return { forwarded: await replayed };
  } catch (error) {
    return { failure: messageOf(error) };
  }
}

function OutcomeText({ outcome }: { readonly outcome: Exclude<ReplayOutcome, undefined> }): JSX.Element {
  if (outcome === 'in flight') return <span class="muted">Sending…</span>;
  if ('failure' in outcome) return <span class="bad">{printable(outcome.failure)}</span>;
  return <ForwardedText what="Replayed to" forwarded={outcome.forwarded} />;
}

/** The response of another receiver. */
export function ForwardedText({
  what,
  forwarded,
}: {
  readonly what: string;
  readonly forwarded: Forwarded;
}): JSX.Element {
  const { url, status, error, detail, headers, reply, ms } = forwarded;
  const isGood = status !== undefined && status < 300;
  return (
    <>
      {what} <code>{printable(url)}</code>: <strong class={isGood ? 'good' : 'bad'}>{status ?? error}</strong>{' '}
      in {millisecondsText(ms)}
      {detail !== undefined && `, ${printable(detail)}`}
      {reply !== undefined && <Reply text={reply} />}
      {headers !== undefined && Object.keys(headers).length > 0 && (
        <details>
          <summary>Headers of the response</summary>
          <HeaderTable headers={Object.entries(headers)} />
        </details>
      )}
    </>
  );
}

/** Short ones go into the line. */
const SHORT = 80;

function Reply({ text }: { readonly text: string }): JSX.Element {
  const lines = text.trimEnd().split('\n');
  if (lines.length === 1 && text.length <= SHORT) {
    return (
      <>
        , saying <code>{printable(text.trimEnd())}</code>
      </>
    );
  }
  return <pre class="response-text">{lines.map((line) => printable(line, 2_000)).join('\n')}</pre>;
}
