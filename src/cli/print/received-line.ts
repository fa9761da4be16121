import type { ChalkInstance } from 'chalk';
import { toCapture } from '../../capture/to-capture.ts';
import { pairsOf, type Forwarded } from '../../receiver/response/forwarding.ts';
import { messageFacts, type ReceivedRequest } from '../../receiver/received-request.ts';
import { printable, redactUrl } from '../../redact.ts';
import { attemptText, detailText, durationText, tenths } from '../attempt-text.ts';
import { fitText } from '../fit-text.ts';
import type { Screen } from '../io.ts';
import { jsonLine } from '../json-line.ts';
import { formatRow, type Cell } from './table.ts';

/** Longer values are no signatures. */
const MAX_SHOWN_SIGNATURE = 200;
/** Room for a cause and its fix. */
const MAX_HINT = 2_000;

interface ReceivedOptions {
  /** The capture that the request was saved as. */
  readonly file?: string | undefined;
  readonly withBody: boolean;
}

/** Formats a received request for a program (cli.md, `hooks listen`). */
export function receivedJson(request: ReceivedRequest, { file, withBody }: ReceivedOptions): string {
  const { at, method, path, verdict, secret, note, diagnosis, problem, status, answered, body, ms } = request;
  const { forwarded, expected, got } = request;
  const { type, ...rest } = messageFacts(body);
  return jsonLine({
    at: new Date(at).toISOString(),
    method,
    path: redactUrl(path),
    type: type ?? null,
    ...rest,
    verdict,
    secret,
    note,
    diagnosis,
    expected,
    got: got && printable(got, MAX_SHOWN_SIGNATURE),
    problem,
    status: status ?? null,
    answered: answered === 'status' ? undefined : answered,
    bytes: body.byteLength,
    ms: tenths(ms),
    forwarded: forwarded && { ...forwarded, ms: tenths(forwarded.ms) },
    file,
    ...(withBody ? headersAndBody(request) : undefined),
  });
}

/** Formats a received request for a person: one aligned line, and below it why a signature does not match. */
export function receivedText(
  request: ReceivedRequest,
  { file, withBody, screen }: ReceivedOptions & { readonly screen: Screen },
): string {
  const { at, method, path, verdict, note, diagnosis, expected, got, problem, body, ms, forwarded } = request;
  const { color, stdoutColumns: columns } = screen;
  const cells: readonly Cell[] = [
    { text: clockTime(at), paint: color.dim },
    { text: printable(`${method} ${redactUrl(path)}`, 200), minWidth: 20, shortest: 12 },
    { text: printable(messageColumn(body), 200), minWidth: 34, shortest: 16 },
    { text: verdict, minWidth: 9, paint: VERDICT_COLORS[verdict](color) },
    statusCell(request, color),
    { text: `${body.byteLength} B`, minWidth: 8, align: 'end', shortest: 7 },
    { text: `${tenths(ms)} ms`, minWidth: 9, align: 'end', shortest: 8 },
  ];
  const below = [
    diagnosis && color.yellow(`${diagnosis.code}: ${printable(diagnosis.hint, MAX_HINT)}`),
    expected && color.dim(`expected ${expected}, got ${printable(got ?? '', MAX_SHOWN_SIGNATURE)}`),
    note && color.dim(printable(note)),
    problem && color.yellow(printable(problem)),
    forwarded && forwardedText(forwarded, color),
    file && color.dim(`saved as ${printable(file)}`),
  ].filter((line) => typeof line === 'string' && line !== '');
  const lines = [
    formatRow(cells, { columns }),
    ...below.map((line) => fitText(`    ${String(line)}`, columns)),
  ];
  // A body is not wrapped: it can be copied.
  if (withBody && body.byteLength > 0) lines.push(`    ${printable(bodyText(body), 10_000)}`);
  return `${lines.join('\n')}\n`;
}

const VERDICT_COLORS: Readonly<Record<ReceivedRequest['verdict'], (color: ChalkInstance) => ChalkInstance>> =
  {
    valid: (color) => color.green,
    invalid: (color) => color.red,
    unsigned: (color) => color.red,
    unchecked: (color) => color.dim,
  };

function messageColumn(body: Uint8Array): string {
  const { type, event, userId, anonymousId } = messageFacts(body);
  if (type === undefined) return '-';
  const who = userId ?? anonymousId;
  return [type, event && `"${event}"`, who && `by ${who}`].filter(Boolean).join(' ');
}

function statusCell({ answered, status }: ReceivedRequest, color: ChalkInstance): Cell {
  const text = answered === 'status' ? String(status) : answered;
  return { text, minWidth: 9, paint: status === undefined || status >= 300 ? color.red : color.green };
}

/** The time in this machine's zone, as a person's watch shows it; the JSON line has the date and the zone. */
function clockTime(at: number): string {
  const time = new Date(at);
  return `${time.toTimeString().slice(0, 8)}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}

function forwardedText(forwarded: Forwarded, color: ChalkInstance): string {
  const { status, reply, detail = reply, ms } = forwarded;
  const said = detailText({ ...forwarded, ...(detail !== undefined && { detail }) });
  const text = `forwarded: ${attemptText(forwarded)} in ${durationText(ms)}${said === undefined ? '' : `, ${said}`}`;
  return status !== undefined && status < 300 ? color.dim(text) : color.yellow(text);
}

/** Headers and body as in a capture: secret headers masked, the body as text or, where it is none, in base64. */
function headersAndBody({ method, path, rawHeaders, body }: ReceivedRequest): object {
  const capture = toCapture({ method, url: path, headers: pairsOf(rawHeaders), body });
  const { headers } = capture;
  return capture.bodyBase64 === undefined
    ? { headers, body: capture.body }
    : { headers, bodyBase64: capture.bodyBase64 };
}

function bodyText(body: Uint8Array): string {
  return bufferOf(body).toString();
}

function bufferOf({ buffer, byteOffset, byteLength }: Uint8Array): Buffer {
  return Buffer.from(buffer, byteOffset, byteLength);
}
