import { toCapture } from '../../../capture/to-capture.ts';
import { pairsOf, type Forwarded } from '../../../receiver/response/forwarding.ts';
import {
  libraryOf,
  messageFacts,
  messagesOf,
  type MessageFacts,
} from '../../../receiver/messages/messages-of.ts';
import type { ReceivedMessage } from '../../../receiver/messages/tracking-call.ts';
import type { ReceivedRequest } from '../../../receiver/received-request.ts';
import type { PlanViolation } from '../../../plan/plan.ts';
import { isMessageType } from '../../../message/types.ts';
import { printable, redactUrl, withoutWriteKeys } from '../../../redact.ts';
import { NOTES } from '../../../signature/reasons.ts';
import { isObject } from '../../../validate-options.ts';
import { isoTime } from '../../../clock.ts';
import { attemptText, detailText, durationText, tenths } from '../../attempt-text.ts';
import { fitText, truncateEnd } from '../../fit-text.ts';
import type { Screen } from '../../io.ts';
import type { Palette } from '../../palette.ts';
import { jsonLine } from '../../json-line.ts';
import { bodyText, headerText } from '../body-text.ts';
import { messageText, receivedHead } from './received-head.ts';

/** Characters of a signature to show. Longer values are not signatures. */
const MAX_SHOWN_SIGNATURE = 200;
/** Maximum characters of a failure's cause or hint that are printed. */
const MAX_HINT = 2_000;

export interface ReceivedOptions {
  readonly output: 'text' | 'json';
  readonly screen: Screen;
  /** The file of the capture if the request was saved. */
  readonly file?: string | undefined;
  /** How to diagnose a mismatch further, if its diagnosis was cut short. */
  readonly further?: string | undefined;
  readonly withBody: boolean;
  /** Finds what a message violates in the tracking plan of --plan. Undefined without that flag. */
  readonly violations?: ((message: ReceivedMessage) => readonly PlanViolation[]) | undefined;
}

/** Formats a received request: a JSON line for a program, or an aligned line with its explanation for a person. */
export function receivedRow(request: ReceivedRequest, options: ReceivedOptions): string {
  return (options.output === 'json' ? receivedJson : receivedText)(request, options);
}

/** Formats a received request as the JSON line of `hooks listen -o json`. */
function receivedJson(request: ReceivedRequest, { file, withBody, violations }: ReceivedOptions): string {
  const { at, method, path, verdict, secret, note, diagnosis, problem, status, answered, body, ms } = request;
  const { forwarded, expected, got, call } = request;
  const messages = messagesOf(request);
  const { type, timestamp: _time, ...rest } = soleFacts(messages);
  return jsonLine({
    at: isoTime(at),
    method,
    path: redactUrl(path),
    type: type ?? null,
    ...rest,
    verdict,
    secret,
    scheme: request.scheme,
    partial: request.partial,
    warning: request.warning,
    note,
    diagnosis,
    expected,
    got: got && printable(got, MAX_SHOWN_SIGNATURE),
    problem: problem ?? call?.rejection?.message,
    status: status ?? null,
    answered: answered === 'status' ? undefined : answered,
    bytes: body.byteLength,
    ms: tenths(ms),
    forwarded: forwarded && { ...forwarded, headers: undefined, ms: tenths(forwarded.ms) },
    file,
    library: libraryOf(messages),
    messages: messages.map((message) => messageJson(message, violations?.(message))),
    ...(withBody ? headersAndBody(request) : undefined),
  });
}

/** Returns the facts of a request's only message, or none if there are several messages. */
function soleFacts(messages: readonly ReceivedMessage[]): MessageFacts {
  const [sole, second] = messages;
  return sole === undefined || second !== undefined ? {} : messageFacts(sole);
}

function messageJson(message: ReceivedMessage, violations?: readonly PlanViolation[]): object {
  const { type = null, ...rest } = messageFacts(message);
  return {
    index: message.index,
    type,
    ...rest,
    problem: message.rejection?.message,
    violations: violations?.map(({ pointer, kind, expected, found: got }) => ({
      pointer,
      kind,
      expected,
      got,
    })),
  };
}

/** Formats a received request for a person: an aligned line, then lines with its messages, problems and body. */
function receivedText(request: ReceivedRequest, options: ReceivedOptions): string {
  const { file, further, withBody, screen, violations } = options;
  const { body } = request;
  const messages = messagesOf(request);
  const { color, stdoutColumns: columns } = screen;
  const head = receivedHead(request, screen);
  const below = [
    ...messageLines(messages, color, violations),
    ...remarksOn(request, screen),
    further && color.yellow(`hint:  ${further}`),
    file && color.dim(`saved as ${printable(file)}`),
  ].filter((line) => typeof line === 'string' && line !== '');
  const lines = [head, ...below.map((line) => fitText(`    ${String(line)}`, columns))];
  const line = withBody || columns === undefined ? '' : bodyLine(request, messages);
  if (line !== '') lines.push(color.dim(`    ${truncateEnd(printable(line, columns), (columns ?? 0) - 4)}`));
  if (withBody && columns !== undefined) lines.push(headerText(headersOf(request), '    ', screen));
  if (withBody && body.byteLength > 0) lines.push(bodyText(Buffer.from(maskedText(body)), '    ', screen));
  return `${lines.join('\n')}\n`;
}

/** Returns the data of a request's message, or the body if it is not a message. Empty if there is nothing more to show. */
function bodyLine({ body }: ReceivedRequest, messages: readonly ReceivedMessage[]): string {
  if (messages.length > 1) return '';
  const [{ value } = { value: undefined }] = messages;
  if (!isObject(value) || !isMessageType(value['type'])) {
    return maskedText(body.subarray(0, LONGEST_LINE)).replaceAll(/\s+/g, ' ').trim();
  }
  const { properties, traits, context } = value;
  const about = [properties, traits, context].find((each) => isObject(each) && Object.keys(each).length > 0);
  return about === undefined ? '' : JSON.stringify(about);
}

/** Maximum bytes of a body to print in a line: enough to fill the line of any terminal. */
const LONGEST_LINE = 1_000;

function remarksOn(
  request: ReceivedRequest,
  { color, named = (text) => text }: Screen,
): readonly (string | undefined)[] {
  const { note, diagnosis, expected, got, call, problem = call?.rejection?.message, forwarded } = request;
  return [
    diagnosis && color.yellow(`${diagnosis.code}: ${named(printable(diagnosis.hint, MAX_HINT))}`),
    // A signature that matches but is too old is not shown twice.
    expected === got
      ? undefined
      : expected && color.dim(`expected ${expected}, got ${printable(got ?? '', MAX_SHOWN_SIGNATURE)}`),
    note && color.dim(`note: the bytes differ: ${NOTES[note]} (${note})`),
    request.partial && color.yellow(`the signature ${request.partial}`),
    request.warning && color.yellow(named(request.warning)),
    problem && color.yellow(printable(problem)),
    forwarded && forwardedText(forwarded, color),
    forwarded?.says && color.yellow(`cause: ${printable(forwarded.says, MAX_HINT)}`),
    forwarded?.hint && color.yellow(`hint:  ${named(printable(forwarded.hint, MAX_HINT))}`),
  ];
}

/**
 * Returns a line for each of several messages, and below it why `hooks serve` would reject the message and what it violates
 * in the plan. Of a single message, only the latter.
 */
function messageLines(
  messages: readonly ReceivedMessage[],
  color: Palette,
  violations: ReceivedOptions['violations'] = () => [],
): string[] {
  const isSole = messages.length === 1;
  const indent = isSole ? '' : '   ';
  return messages.flatMap((message) => {
    const { index, rejection } = message;
    const head = isSole ? [] : [`${color.dim(`${index + 1}.`)} ${printable(messageText(message), 200)}`];
    const problems = [
      ...(rejection === undefined ? [] : [`hooks serve rejects it: ${printable(rejection.message)}`]),
      ...violations(message).map(({ sentence }) => `✗ ${printable(sentence, 1_000)}`),
    ];
    return [...head, ...problems.map((text) => color.yellow(indent + text))];
  });
}

/** Formats the response of the receiver that a request was forwarded to. */
export function forwardedText(forwarded: Forwarded, color: Palette, label = 'forwarded'): string {
  const { status, reply, detail = reply, ms } = forwarded;
  const shown = detailText({ ...forwarded, ...(detail !== undefined && { detail }) });
  const text = `${label}: ${attemptText(forwarded)} in ${durationText(ms)}${shown === undefined ? '' : `, ${shown}`}`;
  return status !== undefined && status < 300 ? color.dim(text) : color.yellow(text);
}

/** Returns the headers as in a capture: those that hold secrets are masked. */
function headersOf({ method, path, rawHeaders }: ReceivedRequest): ReturnType<typeof toCapture>['headers'] {
  return toCapture({ method, url: path, headers: pairsOf(rawHeaders), body: new Uint8Array() }).headers;
}

/** Returns headers and body as in a capture: secret headers are masked, and a body that is not text is base64. */
function headersAndBody({ method, path, rawHeaders, body }: ReceivedRequest): object {
  const capture = toCapture({ method, url: path, headers: pairsOf(rawHeaders), body });
  const { headers } = capture;
  return capture.bodyBase64 === undefined
    ? { headers, body: withoutWriteKeys(capture.body) }
    : { headers, bodyBase64: capture.bodyBase64 };
}

function maskedText({ buffer, byteOffset, byteLength }: Uint8Array): string {
  return withoutWriteKeys(Buffer.from(buffer, byteOffset, byteLength).toString());
}
