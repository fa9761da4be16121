import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { printable } from '../../../redact.ts';
import type { Details } from '../../wire.ts';
import { BodyView, type BodyKind } from '../body/body-view.tsx';
import { Comparison } from './comparison.tsx';
import { editedOf } from './edit-draft.ts';
import { EditForm } from './edit-form.tsx';
import { Sentence } from '../field-error.tsx';
import { HeaderTable } from './header-table.tsx';
import { ResponseView } from './response-view.tsx';
import type { FullRequest } from '../full-request.ts';
import { ForwardedText, ReplayForm, type FieldProblem, type ReplayFormProps } from './replay-form.tsx';
import { Status } from '../list/request-list.tsx';
import { Tabs } from './tabs.tsx';
import type { CopiedForm } from '../state/copies.ts';
import type { InboxState } from '../state/use-inbox.ts';
import { VerdictMark } from '../verdict-mark.tsx';
import {
  millisecondsText,
  sizeText,
  timeOf,
  requestTitleOf,
  shownVerdictOf,
  verdictText,
  whoOf,
} from '../summary-texts.ts';

interface OpenedRequestProps {
  readonly inbox: InboxState;
  readonly opened: FullRequest;
}

/** The selected request in full. */
export function OpenedRequest({ inbox, opened }: OpenedRequestProps): JSX.Element {
  const { tab, setTab, compared, endComparing, draft } = inbox;
  const { details } = opened;
  const [problem, setProblem] = useState<FieldProblem>();
  const errorOf = (field: FieldProblem['field']): string =>
    problem?.id === details.summary.id && problem.field === field ? problem.text : '';
  return (
    <article class="opened" aria-labelledby="opened-title">
      <Heading details={details} />
      <Verdict details={details} onCopy={inbox.copyText} />
      <Violations details={details} />
      {details.forwarded !== undefined && (
        <p class="forwarded">
          <ForwardedText what="Forwarded to" forwarded={details.forwarded} />
        </p>
      )}
      <Actions inbox={inbox} opened={opened} error={errorOf('url')} onError={setProblem} />
      {draft !== undefined && (
        <EditForm
          inbox={inbox}
          draft={draft}
          error={errorOf('headers')}
          onEdit={() => setProblem(undefined)}
        />
      )}
      {draft === undefined && compared === undefined && (
        <>
          <Tabs tab={tab} onTab={setTab} headers={details.headers.length} />
          <div class="content" id="content" role="tabpanel" aria-labelledby={`tab-${tab}`}>
            {tab === 'headers' && <Headers details={details} />}
            {tab === 'response' && <ResponseView details={details} />}
            {tab !== 'headers' && tab !== 'response' && <Body opened={opened} tab={tab} />}
          </div>
        </>
      )}
      {draft === undefined && compared !== undefined && (
        <Comparison one={compared} other={opened} onEnd={endComparing} />
      )}
    </article>
  );
}

interface BodyProps {
  readonly opened: FullRequest;
  readonly tab: BodyKind;
}

/** The body. The tree of a tracking API's call shows the unpacked messages; the other tabs show the received body. */
function Body({ opened: { details, body }, tab }: BodyProps): JSX.Element {
  const { messages, messageTitles, library, problem } = details;
  const unpacked = useMemo(() => new TextEncoder().encode(JSON.stringify(messages ?? [])), [messages]);
  if (messages === undefined || tab !== 'tree') return <BodyView body={body} kind={tab} />;
  const count = `${messages.length} ${messages.length === 1 ? 'message' : 'messages'}`;
  const what = library === undefined ? count : `${count} from ${library}`;
  return (
    <>
      {problem === undefined ? (
        <p class="remark">{printable(what)}</p>
      ) : (
        <p class="remark warning">{printable(`A tracking API rejects this call: ${problem}`)}</p>
      )}
      {messages.length > 0 && <BodyView body={unpacked} kind={tab} names={messageTitles} />}
    </>
  );
}

const COPIES: readonly CopiedForm[] = ['curl', 'fixture', 'capture', 'body', 'link'];

type ActionsProps = OpenedRequestProps & Pick<ReplayFormProps, 'error' | 'onError'>;

function Actions({ inbox, opened, error, onError }: ActionsProps): JSX.Element {
  const { details, body } = opened;
  const { draft } = inbox;
  const { id, method } = details.summary;
  const isMarked = inbox.markedId === id;
  return (
    <div class="actions">
      <ReplayForm
        key={id}
        inbox={inbox}
        summary={details.summary}
        edited={draft && (() => editedOf(draft, body))}
        error={error}
        onError={onError}
      />
      <button
        type="button"
        aria-pressed={draft !== undefined}
        disabled={method !== 'POST' || !inbox.setup.canAct}
        onClick={inbox.toggleEdit}
      >
        {draft === undefined ? 'Edit' : 'Stop editing'}
      </button>
      <button type="button" aria-pressed={isMarked} onClick={inbox.toggleMark}>
        {isMarked ? 'Choose another…' : 'Compare'}
      </button>
      <div class="copies" role="group" aria-label="Copy">
        <span class="muted" aria-hidden="true">
          Copy
        </span>
        {COPIES.map((what) => (
          <button key={what} type="button" aria-label={`Copy ${what}`} onClick={() => inbox.copy(what)}>
            {what}
          </button>
        ))}
      </div>
    </div>
  );
}

function Heading({ details: { summary } }: { readonly details: Details }): JSX.Element {
  const { type, event, method, path, bytes, ms, at, messageId } = summary;
  return (
    <header class="heading">
      <h2 id="opened-title" tabIndex={-1}>
        <bdi>{requestTitleOf(summary)}</bdi>
        <Status request={summary} />
      </h2>
      <dl class="facts">
        {event !== undefined && type !== undefined && <Fact name="Type" value={type} />}
        {type !== undefined && <Fact name="User" value={whoOf(summary) ?? 'none'} />}
        <Fact name="Request" value={`${method} ${path}`} isWhole />
        <Fact name="Received" value={timeOf(summary)} title={new Date(at).toISOString()} />
        <Fact name="Duration" value={millisecondsText(ms)} />
        <Fact name="Body" value={sizeText(bytes)} title={`${bytes} bytes`} />
        {messageId !== undefined && <Fact name="Message id" value={messageId} />}
      </dl>
    </header>
  );
}

interface FactProps {
  readonly name: string;
  readonly value: string;
  /** Tooltip of a shown value. @default the whole value, because the shown one may be truncated */
  readonly title?: string;
  /** Whether a long value wraps instead of being truncated. */
  readonly isWhole?: boolean;
}

function Fact({ name, value, title = printable(value), isWhole = false }: FactProps): JSX.Element {
  return (
    <div class={isWhole ? 'whole' : ''}>
      <dt>{name}</dt>
      <dd title={title}>
        <bdi>{printable(value)}</bdi>
      </dd>
    </div>
  );
}

interface VerdictProps {
  readonly details: Details;
  readonly onCopy: (text: string, what: string) => void;
}

function Verdict({ details, onCopy }: VerdictProps): JSX.Element {
  const { what, why } = verdictText(details);
  const { expected, got = '' } = details;
  const verdict = shownVerdictOf(details.summary);
  return (
    <div class={`verdict ${verdict}`}>
      <VerdictMark verdict={verdict} />
      <p>
        <strong>{what}</strong>
        {why !== undefined && <Sentence text={printable(why, 2_000)} />}
        {details.diagnosis !== undefined && <code class="code">{details.diagnosis.code}</code>}
        {details.diagnosis?.isCutShort === true && (
          <span class="further" role="status">
            Searching further…
          </span>
        )}
      </p>
      {expected !== undefined && (
        <dl class="signatures">
          <dt>Expected</dt>
          <dd>
            <code>{expected}</code>{' '}
            <button
              type="button"
              aria-label="Copy the expected signature"
              onClick={() => onCopy(expected, 'signature')}
            >
              Copy
            </button>
          </dd>
          <dt>Actual</dt>
          <dd>
            <code>{printable(got, 200)}</code>
          </dd>
        </dl>
      )}
    </div>
  );
}

/** The violations of the tracking plan of `listen --plan`. */
function Violations({ details: { violations = [] } }: { readonly details: Details }): JSX.Element | null {
  if (violations.length === 0) return null;
  return (
    <ul class="violations" aria-label="Violations of the tracking plan">
      {violations.map((text, index) => (
        <li key={index}>{printable(text, 2_000)}</li>
      ))}
    </ul>
  );
}

function Headers({ details: { headers } }: { readonly details: Details }): JSX.Element {
  return (
    <div class="pane" tabIndex={0} role="region" aria-label="Headers">
      <HeaderTable headers={headers} />
    </div>
  );
}
