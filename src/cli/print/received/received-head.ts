import { messageFacts, messagesOf, libraryOf } from '../../../receiver/messages/messages-of.ts';
import type { ReceivedMessage } from '../../../receiver/messages/tracking-call.ts';
import type { ReceivedRequest } from '../../../receiver/received-request.ts';
import { printable, redactUrl } from '../../../redact.ts';
import { tenths } from '../../attempt-text.ts';
import type { Screen } from '../../io.ts';
import type { Paint, Palette } from '../../palette.ts';
import { ColumnLayout, type Column } from '../column-layout.ts';
import { formatRow, type Cell } from '../table.ts';

/** Formats the aligned line of a request: fitted to a terminal, or with whole texts elsewhere. */
export function receivedHead(request: ReceivedRequest, screen: Screen): string {
  const { stdoutColumns: columns, color } = screen;
  return columns === undefined ? pipedHead(request, color) : terminalHead(request, columns, color);
}

/** The columns of a request at a terminal: the event gets the room first, then the user, then the rest. */
const COLUMNS = {
  time: { least: 8, rank: 6 },
  request: { least: 10, most: 20, rank: 5 },
  event: { least: 24, most: 40, rank: 1 },
  user: { least: 12, most: 24, rank: 4 },
  verdict: { least: 9, rank: 2 },
  status: { least: 5, most: 9, rank: 3 },
  bytes: { least: 8, align: 'end', rank: 7, isExtra: true },
  ms: { least: 9, align: 'end', rank: 8, isExtra: true },
} as const satisfies Readonly<Record<string, Column>>;

function terminalHead(request: ReceivedRequest, columns: number, color: Palette): string {
  const { at, method, path, verdict, body, ms } = request;
  const messages = messagesOf(request);
  const { what, who } = messageParts(messages);
  return new ColumnLayout(Object.values(COLUMNS), columns).line([
    { text: clockTime(at).slice(0, 8), paint: color.dim },
    { text: printable(`${method} ${redactUrl(path)}`, 200) },
    { text: printable(what, 200) },
    { text: printable(who, 200) },
    { text: verdict, paint: VERDICT_COLORS[verdict](color) },
    statusCell(request, color),
    { text: `${body.byteLength} B` },
    { text: `${tenths(ms)} ms` },
  ]);
}

function pipedHead(request: ReceivedRequest, color: Palette): string {
  const { at, method, path, verdict, body, ms } = request;
  const { what, who } = messageParts(messagesOf(request));
  const cells: readonly Cell[] = [
    { text: clockTime(at), paint: color.dim },
    { text: printable(`${method} ${redactUrl(path)}`, 200), minWidth: 20 },
    { text: printable([what, who].filter(Boolean).join(' '), 200), minWidth: 34 },
    { text: verdict, minWidth: 9, paint: VERDICT_COLORS[verdict](color) },
    { ...statusCell(request, color), minWidth: 9 },
    { text: `${body.byteLength} B`, minWidth: 8, align: 'end' },
    { text: `${tenths(ms)} ms`, minWidth: 9, align: 'end' },
  ];
  return formatRow(cells, { columns: undefined });
}

const VERDICT_COLORS: Readonly<Record<ReceivedRequest['verdict'], (color: Palette) => Paint>> = {
  valid: (color) => color.green,
  invalid: (color) => color.red,
  unsigned: (color) => color.red,
  unchecked: (color) => color.dim,
};

/** Describes the only message of a request and its user, or returns the number of messages and their library. */
function messageParts(messages: readonly ReceivedMessage[]): { readonly what: string; readonly who: string } {
  const [sole] = messages;
  if (messages.length === 1 && sole !== undefined) return partsOf(sole);
  if (messages.length === 0) return { what: '-', who: '' };
  const library = libraryOf(messages);
  return { what: `${messages.length} messages`, who: library === undefined ? '' : `from ${library}` };
}

/** Describes a message and its user, such as `track "Signup" by u1`. Not escaped. */
export function messageText(message: ReceivedMessage): string {
  const { what, who } = partsOf(message);
  return [what, who].filter(Boolean).join(' ');
}

function partsOf(message: ReceivedMessage): { readonly what: string; readonly who: string } {
  const { type, event, userId, anonymousId } = messageFacts(message);
  if (type === undefined) return { what: '-', who: '' };
  const who = userId ?? anonymousId;
  return { what: event ? `${type} "${event}"` : type, who: who ? `by ${who}` : '' };
}

function statusCell({ answered, status }: ReceivedRequest, color: Palette): Cell {
  const text = answered === 'status' ? String(status) : answered;
  return { text, paint: status === undefined || status >= 300 ? color.red : color.green };
}

/** Formats the time of day in the local time zone. The JSON line of a request has the date and UTC. */
function clockTime(at: number): string {
  const time = new Date(at);
  return `${time.toTimeString().slice(0, 8)}.${String(time.getMilliseconds()).padStart(3, '0')}`;
}
