import { formatPath, type PathStep } from '../message/json/json-path.ts';
import { isJsonObject, isJsonArray, type JsonValue } from '../message/types.ts';
import { messageFacts } from '../receiver/messages/messages-of.ts';
import { wholeMessage, type ReceivedMessage } from '../receiver/messages/tracking-call.ts';
import { idsOf, Placeholders, sharedIds } from './placeholders.ts';

/** A message of a snapshot: a title, and a line for each value. */
export interface SnapshotMessage {
  readonly title: string;
  /** A line for each value, such as `properties.plan = "pro"`, in the order of the paths. */
  readonly lines: readonly string[];
}

/** The messages of one user, in order of arrival. */
export interface SnapshotUser {
  /** `user "u1"`, `no user`, or `user <anonymous-id>` for all users whose id is new in each run. */
  readonly heading: string;
  readonly messages: readonly SnapshotMessage[];
}

/**
 * Creates a snapshot: messages by user, those of a user in order of arrival. Values that are new in each run become
 * placeholders. Users arrive in random order, so they are sorted by their text, and no user's text depends on the place of
 * another user.
 */
export function snapshotOf(messages: readonly ReceivedMessage[]): readonly SnapshotUser[] {
  const users = [...messagesByUser(messages)].map(([user, ofUser]) => ({
    user,
    messages: ofUser,
    ids: idsOf(ofUser.map(({ value }) => value)),
  }));
  const shared = sharedIds(users.map(({ ids }) => ids));
  const unnumbered = users.map((each) => {
    return { ...each, key: keyOf(writtenUser(each, new Placeholders(each.ids, shared))) };
  });
  // Numbers the shared ids in the order of the sorted users, because the order in which users arrive is random.
  const numbers = new Map<string, number>();
  const numbered = unnumbered.toSorted(byKey).map((each) => {
    const written = writtenUser(each, new Placeholders(each.ids, shared, numbers));
    return { written, key: keyOf(written) };
  });
  return numbered.toSorted(byKey).map(({ written }) => written);
}

/**
 * Groups messages by user id. A message without one joins the user id that another message has with the same anonymous id.
 * Without such a message, the anonymous id is the group.
 */
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

function writtenUser(
  { user, messages }: { readonly user: string; readonly messages: readonly ReceivedMessage[] },
  placeholders: Placeholders,
): SnapshotUser {
  return {
    heading: user === '' ? 'no user' : `user ${placeholders.kindOrText(user)}`,
    messages: messages.map((message) => ({
      title: titleOf(message),
      lines: linesOf(wholeMessage(message), [], placeholders),
    })),
  };
}

/** Sort key of a user. Titles are first, so that a changed value seldom moves the user. */
function keyOf({ heading, messages }: SnapshotUser): string {
  return [heading, ...messages.map(({ title }) => title), '', ...messages.flatMap(({ lines }) => lines)].join(
    '\n',
  );
}

function byKey({ key: one }: { readonly key: string }, { key: other }: { readonly key: string }): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/**
 * Title of a message, such as `track "Signup"`. Quotes a type that is not a plain word, and the type `user`, because
 * headings start with `user`.
 */
function titleOf(message: ReceivedMessage): string {
  const { type, event } = messageFacts(message);
  const isWord = type === undefined || /^(?!user$)[a-z][\w-]*$/i.test(type);
  const title = isWord ? (type ?? 'no type') : JSON.stringify(type);
  return event === undefined ? title : `${title} ${JSON.stringify(event)}`;
}

/** Stands for the path of a message that is not an object, such as null. No key has this form. */
const WHOLE = '(message)';

/**
 * Returns a line for each value, with the keys of each object sorted. Leaves out the type and the event, which are in the
 * title.
 */
function linesOf(value: JsonValue, steps: readonly PathStep[], placeholders: Placeholders): string[] {
  const path = formatPath(steps) || WHOLE;
  if ((path === 'type' || path === 'event') && typeof value === 'string') return [];
  const placeholder = placeholders.ofPath(path, value);
  if (placeholder !== undefined) return [`${path} = ${placeholder}`];
  if (isJsonObject(value) && (Object.keys(value).length > 0 || steps.length === 0)) {
    return Object.keys(value)
      .toSorted()
      .flatMap((key) => linesOf(value[key] ?? null, [...steps, key], placeholders));
  }
  if (isJsonArray(value) && value.length > 0) {
    return value.flatMap((item, index) => linesOf(item, [...steps, index], placeholders));
  }
  return [`${path} = ${typeof value === 'string' ? placeholders.textOf(value) : JSON.stringify(value)}`];
}
