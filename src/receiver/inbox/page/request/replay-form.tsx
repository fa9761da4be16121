import type { JSX, RefObject } from 'preact';
import { useState } from 'preact/hooks';
import type { Forwarded } from '../../../response/forwarding.ts';
import { printable } from '../../../../redact.ts';
import { messageOf, type Api } from '../state/api.ts';
import { millisecondsText } from '../summary-texts.ts';

interface ReplayFormProps {
  readonly api: Api;
  readonly id: number;
  /** Where to; kept from one request to the next. */
  readonly url: string;
  readonly onUrl: (url: string) => void;
  /** Only what came as POST is sent again. */
  readonly isPost: boolean;
  readonly formRef: RefObject<HTMLFormElement | null>;
}

type ReplayOutcome = { readonly forwarded: Forwarded } | { readonly fault: string } | 'in flight' | undefined;

/** Sends the request again, byte by byte, and shows the response. Its key gives each request a separate form. */
export function ReplayForm({ api, id, url, onUrl, isPost, formRef }: ReplayFormProps): JSX.Element {
  const [outcome, setOutcome] = useState<ReplayOutcome>();
  const isReady = isPost && outcome !== 'in flight';
  const replay = async (): Promise<void> => {
    setOutcome('in flight');
    setOutcome(await outcomeOf(api.replay(id, url === '' ? {} : { url })));
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
        placeholder="http://localhost:3000/webhook"
        value={url}
        onInput={({ currentTarget: { value } }) => onUrl(value)}
      />
      <button type="submit" class="primary" disabled={!isReady}>
        Replay
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
    return { fault: messageOf(error) };
  }
}

function OutcomeText({ outcome }: { readonly outcome: Exclude<ReplayOutcome, undefined> }): JSX.Element {
  if (outcome === 'in flight') return <span class="muted">Sending…</span>;
  if ('fault' in outcome) return <span class="bad">{printable(outcome.fault)}</span>;
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
  const { url, status, error, detail, reply, ms } = forwarded;
  const isGood = status !== undefined && status < 300;
  return (
    <>
      {what} <code>{printable(url)}</code>: <strong class={isGood ? 'good' : 'bad'}>{status ?? error}</strong>{' '}
      in {millisecondsText(ms)}
      {detail !== undefined && `, ${printable(detail)}`}
      {reply !== undefined && <Reply text={reply} />}
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
  return <pre class="reply">{lines.map((line) => printable(line, 2_000)).join('\n')}</pre>;
}
