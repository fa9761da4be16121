import { formatPath, type PathStep } from '../message/json/json-path.ts';
import { isJsonObject, isJsonArray, type JsonValue } from '../message/types.ts';
import { messageFacts } from '../receiver/messages/messages-of.ts';
import { wholeMessage, type ReceivedMessage } from '../receiver/messages/tracking-call.ts';
import { idsOf, Placeholders, sharedIds } from './placeholders.ts';

/** One message of a snapshot: what it is, and a line for each value in it. */
export interface SnapshotMessage {
  readonly title: string;
  /** `properties.plan = "pro"`, in the order of the paths. */
  readonly lines: readonly string[];
}

/** The messages of one user, in order of arrival. */
export interface SnapshotUser {
  /** `user "u1"`, `no user`; users whose id is new in each run have the same: `user <anonymous-id>`. */
  readonly heading: string;
  readonly messages: readonly SnapshotMessage[];
}

/**
 * Makes a snapshot: by user, and of a user in order of arrival. Whatever is new in each run becomes a placeholder. The order between
 * users is chance, so that they are sorted by what is written of them, and nothing written of one depends on the place of another.
 */
export function snapshotOf(messages: readonly ReceivedMessage[]): readonly SnapshotUser[] {
  const users = [...messagesByUser(messages)].map(([user, ofUser]) => ({
    user,
    messages: ofUser,
    ids: idsOf(ofUser.map(({ value }) => value)),
  }));
  const shared = sharedIds(users.map(({ ids }) => ids));
  const unnumbered = users.map((each) => {
    const written = writtenUser(each, new Placeholders(each.ids, shared));
    return { ...each, written, key: keyOf(written) };
  });
  if (shared.size === 0) return unnumbered.toSorted(byKey).map(({ written }) => written);
  // The ids that users have in common are numbered when the users have their order.
  const numbers = new Map<string, number>();
  const numbered = unnumbered.toSorted(byKey).map((each) => {
    const written = writtenUser(each, new Placeholders(each.ids, shared, numbers));
    return { written, key: keyOf(written) };
  });
  return numbered.toSorted(byKey).map(({ written }) => written);
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

/** The titles go first: a value that changes then seldom moves its user to another place. */
function keyOf({ heading, messages }: SnapshotUser): string {
  return [heading, ...messages.map(({ title }) => title), '', ...messages.flatMap(({ lines }) => lines)].join(
    '\n',
  );
}

function byKey({ key: one }: { readonly key: string }, { key: other }: { readonly key: string }): number {
  if (one === other) return 0;
  return one < other ? -1 : 1;
}

/** `track "Signup"`. A type that is no plain word is quoted, and so is `user`, which begins the heading of a user. */
function titleOf(message: ReceivedMessage): string {
  const { type, event } = messageFacts(message);
  const isWord = type === undefined || /^(?!user$)[a-z][\w-]*$/i.test(type);
  const title = isWord ? (type ?? 'no type') : JSON.stringify(type);
  return event === undefined ? title : `${title} ${JSON.stringify(event)}`;
}

/** What is written as the path of a message that is no object, such as null. No key is written so. */
const WHOLE = '(message)';

/** A line for each value, the keys of each object in order. What the title says is left out. */
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
