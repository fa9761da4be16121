import { formatPath, type PathStep } from '../../message/json/json-path.ts';
import { isJsonObject, type JsonValue } from '../../message/types.ts';
import { messageFacts } from '../messages/messages-of.ts';
import type { ReceivedMessage } from '../messages/tracking-call.ts';
import { Placeholders } from './placeholders.ts';

/** One message of a snapshot: what it is, and a line for each value in it. */
export interface SnapshotMessage {
  readonly title: string;
  /** `properties.plan = "pro"`, in the order of the paths. */
  readonly lines: readonly string[];
}

/** The messages of one user, in order of arrival. */
export interface SnapshotUser {
  /** `user "u1"`, `no user`. */
  readonly heading: string;
  readonly messages: readonly SnapshotMessage[];
}

/**
 * Makes a snapshot: by user, and of a user in order of arrival, since the order between users is chance. Whatever is new in each run
 * becomes a placeholder.
 */
export function snapshotOf(messages: readonly ReceivedMessage[]): readonly SnapshotUser[] {
  const users = messagesByUser(messages);
  const placeholders = new Placeholders([...users.values()].flat().map(({ value }) => value));
  return [...users].map(([user, ofUser]) => ({
    heading: user === '' ? 'no user' : `user ${placeholders.textOf(user)}`,
    messages: ofUser.map((message) => ({
      title: titleOf(message),
      lines: linesOf(message.value, [], placeholders),
    })),
  }));
}

/** A user goes by the user id; by the anonymous id as long as no message has both. */
function messagesByUser(messages: readonly ReceivedMessage[]): Map<string, ReceivedMessage[]> {
  const userOfAnonymous = new Map<string, string>();
  for (const message of messages) {
    const { userId, anonymousId } = messageFacts(message);
    if (userId !== undefined && anonymousId !== undefined && !userOfAnonymous.has(anonymousId)) {
      userOfAnonymous.set(anonymousId, userId);
    }
  }
  const users = new Map<string, ReceivedMessage[]>();
  for (const message of messages) {
    const { userId, anonymousId = '' } = messageFacts(message);
    const user = userId ?? userOfAnonymous.get(anonymousId) ?? anonymousId;
    const ofUser = users.get(user);
    if (ofUser === undefined) users.set(user, [message]);
    else ofUser.push(message);
  }
  return users;
}

function titleOf(message: ReceivedMessage): string {
  const { type, event } = messageFacts(message);
  const title = [type ?? 'no type', event && JSON.stringify(event)].filter(Boolean).join(' ');
  return /^(?!user |no user$)[a-z][^\n\r]*$/i.test(title) ? title : JSON.stringify(title);
}

/** A line for each value, the keys of each object in order. What the title says is left out. */
function linesOf(value: JsonValue, steps: readonly PathStep[], placeholders: Placeholders): string[] {
  const path = formatPath(steps);
  if ((path === 'type' || path === 'event') && typeof value === 'string') return [];
  const placeholder = placeholders.ofPath(path, value);
  if (placeholder !== undefined) return [`${path} = ${placeholder}`];
  if (isJsonObject(value) && (Object.keys(value).length > 0 || path === '')) {
    return Object.keys(value)
      .toSorted()
      .flatMap((key) => linesOf(value[key] ?? null, [...steps, key], placeholders));
  }
  if (Array.isArray(value) && value.length > 0) {
    const items = value as readonly JsonValue[]; // Array.isArray forgets what JSON is made of
    return items.flatMap((item, index) => linesOf(item, [...steps, index], placeholders));
  }
  return [`${path} = ${typeof value === 'string' ? placeholders.textOf(value) : JSON.stringify(value)}`];
}

const FIRST_LINE = '# hooks snapshot 1';

const PREAMBLE = `${FIRST_LINE}: what a program sent, by user. Written by hooks expect --snapshot FILE --update`;

export function formatSnapshot(users: readonly SnapshotUser[]): string {
  const sections = users.map(({ heading, messages }) => {
    const blocks = messages.map(({ title, lines }) =>
      [title, ...lines.map((line) => `  ${line}`), ''].join('\n'),
    );
    return [heading, '', ...blocks].join('\n');
  });
  return [PREAMBLE, '', ...sections].join('\n');
}

export type SnapshotReading =
  | { readonly ok: true; readonly users: readonly SnapshotUser[] }
  /** The line is counted from 1. */
  | { readonly ok: false; readonly line: number; readonly expected: string };

/** Reads what `formatSnapshot` writes. */
export function parseSnapshot(text: string): SnapshotReading {
  const [first = '', ...rest] = text.split(/\r?\n/);
  if (!first.startsWith(`${FIRST_LINE}:`)) {
    return { ok: false, line: 1, expected: `a snapshot, which begins with \`${FIRST_LINE}\`` };
  }
  const users: { heading: string; messages: { title: string; lines: string[] }[] }[] = [];
  for (const [index, line] of rest.entries()) {
    const user = users.at(-1);
    const message = user?.messages.at(-1);
    if (line === '') continue;
    else if (/^(?:user |no user$)/.test(line)) users.push({ heading: line, messages: [] });
    else if (/^ {2}[^ ].* = ./s.test(line) && message !== undefined) message.lines.push(line.slice(2));
    else if (/^[a-z"]/i.test(line) && user !== undefined) user.messages.push({ title: line, lines: [] });
    else return { ok: false, line: index + 2, expected: 'a user, a message or `  path = value`' };
  }
  return { ok: true, users };
}
