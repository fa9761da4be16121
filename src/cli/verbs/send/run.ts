import { randomUUID } from 'node:crypto';
import { systemClock } from '../../../clock.ts';
import type { Settings } from '../../../config/settings.ts';
import { ConfigError } from '../../../errors.ts';
import { buildMessage, validateMessageSize, messageBytes } from '../../../message/build.ts';
import type { TraceParent } from '../../../client/calls.ts';
import { isJson, readJson } from '../../../message/json/read-json.ts';
import { readTraceContext } from '../../../message/trace-context.ts';
import { orderKeysOf } from '../../../message/outgoing-message.ts';
import { sentBodyText, unbuiltMessage, type SendableMessage } from '../../../message/sendable-message.ts';
import type { ResponseCause } from '../../../diagnosis/explain.ts';
import { closest, nearHint } from '../../../suggest.ts';
import {
  isJsonObject,
  isMessageType,
  MESSAGE_TYPES,
  type JsonValue,
  type Message,
  type MessageType,
} from '../../../message/types.ts';
import type { Outcome } from '../../../app/pipeline/outcomes.ts';
import { printable } from '../../../redact.ts';
import { noteHint } from '../../error-text.ts';
import type { GlobalOptions } from '../../command.ts';
import { ExitCode, interruptedCode } from '../../exit-code.ts';
import { aborted, type Io } from '../../io.ts';
import { jsonLine } from '../../json-line.ts';
import { flagError } from '../../flags/flag-values.ts';
import type { LoopbackJudgement } from '../../flags/delivery/loopback.ts';
import {
  firstMessageFlag,
  stdinFlags,
  withFlagsInHints,
  type MessageFlags,
} from '../../flags/message/message-flags.ts';
import { readFlagText, type FlagText } from '../../flags/message/flag-text.ts';
import { messageInput, type ReadFlags } from '../../flags/message/message-input.ts';
import { openPipeline, type OpenPipeline } from '../../flags/delivery/open-pipeline.ts';
import { previewOf, type PreviewFlags } from '../../flags/delivery/preview-flags.ts';
import { isSound, isTaken, resultLine, messageTitleOf } from '../../print/result-line.ts';
import { resultText } from '../../print/result-text.ts';
import { remarkOnSigning } from '../../flags/signature/unsigned-note.ts';
import { secretStdinFlags } from '../../flags/signature/secret-flags.ts';
import { commandSettings } from '../../flags/delivery/settings.ts';
import { noteHiddenSettings } from '../../flags/hidden-settings.ts';
import { rejectStdinTwice } from '../../stdin.ts';
import type { FailureCause } from '../../print/failure-cause.ts';
import { hasForeignScheme, resolveWhereTo, type WhereToFlags } from '../../flags/delivery/where-to.ts';
import type { Sources } from '../../../engine/options.ts';

export interface SendOptions extends GlobalOptions, MessageFlags, WhereToFlags, PreviewFlags {}

/**
 * Runs `hooks send`: builds one message, delivers it with the client and engine that all verbs use, and prints the result.
 */
export async function sendMessage(
  named: string | undefined,
  options: SendOptions,
  io: Io,
): Promise<ExitCode> {
  const type = messageTypeOf(named, options);
  if (options.exact) rejectWithExact(type, options);
  const onRequest = await previewOf(options, io);
  rejectStdinTwice([...stdinFlags(options), ...secretStdinFlags(options)]);
  // `--json` is read once here, because it can be `@-`, and standard input cannot be read again.
  const json = type === undefined ? await readFlagText(options.json ?? '', '--json', io) : options.json;
  const any = typeof json === 'object' ? anyJson(json, options) : undefined;
  const built = any ?? (await messageOf(type, { ...options, json }, io));
  const settings = await commandSettings(options, io);
  const to = await resolveWhereTo(options, settings, io);
  const isSent = any === undefined || options.exact || hasForeignScheme(to);
  const sent = isSent ? built : await messageOf(type, { ...options, json }, io);
  if ('sources' in to) rejectMisspelledIntegration(sent.message, to.sources);
  const quiet = options.quiet === true;
  remarkOnSigning(to, options, { settings, io });
  let shown: ResponseCause | undefined;
  const onCause = (cause: ResponseCause): void => void (shown = cause);
  const prepared = { io, settings, quiet, onRequest, onCause, note: io.note };
  const open = await openPipeline(to, { ...prepared, showsHeaders: showsHeaders(options) });
  const { madeId } = sent;
  if (madeId !== undefined && !quiet) io.note(`note: without --user-id, anonymousId is ${madeId}`);
  const { outcome, cause } = await explained(await deliver(sent, open, io), { options, settings, io });
  if (onRequest !== undefined && outcome.outcome === 'delivered') return ExitCode.ok;
  const judgement = open.loopback?.judgementOf(outcome.destinations[0]?.signature);
  printResult(sent, { outcome, judgement, cause, shown }, options, io);
  const isGood = isTaken(outcome.outcome) && isSound(judgement);
  return interruptedCode(io) ?? (isGood ? ExitCode.ok : ExitCode.negative);
}

function showsHeaders({ verbose, output }: SendOptions): boolean {
  return verbose === true && output === 'text';
}

function messageTypeOf(named: string | undefined, { json }: SendOptions): MessageType | undefined {
  if (named === undefined && json !== undefined) return undefined;
  if (isMessageType(named)) return named;
  const all = `${eventHint(named)}give one of ${MESSAGE_TYPES.join(', ')}; or --json with a message that has a type`;
  const got = named === undefined ? 'nothing' : printable(JSON.stringify(named), 60);
  throw new ConfigError(`Expected a message type after \`hooks send\`, got ${got}`, {
    key: 'type',
    hint: nearHint(named ?? '', MESSAGE_TYPES, all),
  });
}

/** Suggests `send track` for a word that looks like the name of an event. */
function eventHint(named: string | undefined): string {
  const isName = named !== undefined && /^[A-Z][\w -]{2,40}$/.test(named);
  return isName ? `send an event of this name with hooks send track --event '${named}'; or ` : '';
}

/** Throws ConfigError for flags that build or change a message, because `--exact` sends the bytes of `--json`. */
function rejectWithExact(type: MessageType | undefined, options: SendOptions): void {
  const stray = type ?? firstMessageFlag(options);
  if (stray === undefined && options.json !== undefined) return;
  const got = stray === undefined ? 'no `--json`' : `\`${stray}\` too`;
  const hint = 'run hooks send --exact --json @body.json, which sends the bytes unchanged';
  throw flagError('--exact', `Expected \`--exact\` with \`--json\` alone, got ${got}`, hint);
}

interface MessageToSend extends SendableMessage {
  /** The generated anonymous id of a message that has neither an anonymous id nor a user id. */
  readonly madeId?: string | undefined;
}

/** Returns the bytes of `--json` to send unchanged. Undefined if a message is built from the JSON. */
function anyJson({ bytes, origin }: FlagText, options: SendOptions): MessageToSend | undefined {
  const text = Buffer.from(bytes).toString();
  // Accepts JSON of which JavaScript would lose a part, such as a large number, because the bytes are sent.
  const value = isJson(text) ? (JSON.parse(text) as JsonValue) : readJson(bytes, { file: origin }); // JSON.parse returns JSON
  const isMessage = isJsonObject(value) && isMessageType(value['type']);
  if (!options.exact && (isMessage || firstMessageFlag(options) !== undefined)) return undefined;
  return { message: unbuiltMessage(value), exactBody: bytes };
}

async function messageOf(
  type: MessageType | undefined,
  options: Omit<SendOptions, 'json'> & Pick<ReadFlags, 'json'>,
  io: Io,
): Promise<MessageToSend> {
  const input = await messageInput(options, type, io);
  let madeId: string | undefined;
  const message = withFlagsInHints(() =>
    buildMessage(input, {
      now: systemClock.now(),
      strict: options.strict ?? false,
      anonymousId: () => (madeId = randomUUID()),
    }),
  );
  validateMessageSize(messageBytes(input));
  return { message, madeId };
}

/** Returns the trace context of the program that runs the command. Ignores a malformed one (W3C Trace Context, 4.3). */
function parentOf({ TRACEPARENT: traceparent, TRACESTATE: tracestate }: Io['env']): TraceParent {
  return readTraceContext({ traceparent }) === undefined ? {} : { traceparent, tracestate };
}

async function deliver(
  { message, exactBody }: SendableMessage,
  { pipeline, close }: OpenPipeline,
  io: Io,
): Promise<Outcome> {
  const orderKeys = orderKeysOf(message);
  const delivered = pipeline.deliver({ message, exactBody, orderKeys, ...parentOf(io.env) });
  // Flushes now, because no other message will fill the batch.
  void pipeline.client.flush();
  await Promise.race([delivered, aborted(io.signal)]);
  await close({ interrupted: io.signal.aborted });
  return delivered;
}

interface SendContext {
  readonly options: SendOptions;
  readonly settings: Settings;
  readonly io: Io;
}

/** Examines a failure and finds its cause. Loads that code only for a failure. */
async function explained(
  outcome: Outcome,
  { options, settings, io }: SendContext,
): Promise<Pick<SendResult, 'outcome' | 'cause'>> {
  if (isTaken(outcome.outcome)) return { outcome, cause: undefined };
  noteHiddenSettings(options, settings, io);
  const { examinedOutcome } = await import('../../print/examined-outcome.ts');
  const { failureCause } = await import('../../print/failure-cause.ts');
  const examined = await examinedOutcome(outcome, io);
  return { outcome: examined, cause: failureCause(examined) };
}

interface SendResult {
  readonly outcome: Outcome;
  /** Why the message was not delivered. Undefined for a message that was delivered or queued. */
  readonly cause: FailureCause | undefined;
  readonly judgement: LoopbackJudgement | undefined;
  /** The failure that the body of a 2xx reports, or the reason of a rejection that its body proves. */
  readonly shown: ResponseCause | undefined;
}

function printResult(
  sent: SendableMessage,
  { outcome, judgement, cause: known, shown }: SendResult,
  options: SendOptions,
  io: Io,
): void {
  const { message } = sent;
  const isSure = options.verbose || shown?.confidence !== 'possible';
  const cause = known && shown ? { ...known, ...shown, hint: shown.fix } : known;
  const facts = {
    type: message.type,
    title: messageTitleOf(message),
    cause,
    judgement,
    body: options.verbose ? sentBodyText(sent) : undefined,
    warning: outcome.outcome === 'delivered' && isSure ? shown : undefined,
  };
  if (options.output === 'json') {
    io.out(jsonLine(resultLine(outcome, facts)));
    return;
  }
  if (options.quiet && isTaken(outcome.outcome)) return;
  io.out(`${resultText(outcome, facts, io)}\n`);
  const hint = cause?.hint ?? facts.warning?.fix;
  if (hint !== undefined) noteHint(io, printable(hint, 1_000));
  for (const [url, other] of cause?.others ?? []) noteHint(io, printable(`${url}: ${other.hint}`, 1_000));
}

/**
 * Throws ConfigError for a name in `integrations` that resembles a destination's: such a name has no effect, and the message
 * would reach a destination that the user meant to exclude. Other names may belong to destinations of other programs.
 */
function rejectMisspelledIntegration({ integrations = {} }: Message, sources: Sources): void {
  const names = Object.values(sources).flatMap(({ destinations }) => Object.keys(destinations));
  const known = [...names, 'All'];
  for (const name of Object.keys(integrations)) {
    const meant = known.includes(name) ? undefined : closest(name, known);
    if (meant === undefined) continue;
    throw new ConfigError(
      `No destination is called ${printable(name, 80)}: the destinations are ${names.join(', ')}`,
      {
        key: `integrations.${name}`,
        hint: `did you mean ${printable(meant, 80)}? Case matters: --integration ${printable(meant, 80)}=false`,
      },
    );
  }
}
