import { createHash } from 'node:crypto';
import { isJsonObject, isJsonArray, type JsonValue } from '../message/types.ts';
import { RFC_3339 } from '../message/timestamp.ts';

/** Fields whose id is new in each run, and the names of their placeholders. */
const ID_FIELDS: Readonly<Record<string, string>> = { messageId: 'message-id', anonymousId: 'anonymous-id' };

/**
 * Recognizes UUIDs. A UUID without dashes must have one of the usual versions 1, 4 and 7, which excludes 95 % of the hashes
 * of this length.
 */
const UUID =
  /^(?:[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}|[0-9a-f]{12}[147][0-9a-f]{3}[89ab][0-9a-f]{15})$/i;

/** Placeholders for values that depend on the machine, the browser or the time, by path. */
const ENVIRONMENT_PLACEHOLDERS: Readonly<Record<string, string>> = {
  'context.ip': '<ip>',
  'context.userAgent': '<user-agent>',
  'context.userAgentData': '<user-agent>',
  'context.locale': '<locale>',
  'context.timezone': '<timezone>',
  'context.screen': '<screen>',
  'context.sessionId': '<session-id>',
  'context.app.version': '<version>',
  'context.app.build': '<version>',
  'context.os.version': '<version>',
  'context.library.version': '<version>',
  '_metadata.nodeVersion': '<version>',
  timestamp: '<time>',
  originalTimestamp: '<time>',
  sentAt: '<time>',
  receivedAt: '<time>',
};

/** Finds the port in a URL of this machine, such as the URL of a page under test. Snapshots show it as `<port>`. */
const LOCAL_PORT = /(\bhttps?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\d+/g;

/**
 * The ids in the messages of one user, in order of their first occurrence, each with its kind and its number of occurrences.
 */
export type Ids = ReadonlyMap<string, { readonly kind: string; readonly count: number }>;

/**
 * Placeholders for values that are new in each run. In the messages of one user, the same id has the same placeholder. An id
 * that occurs once is not numbered (`<message-id>`), so that an additional message changes no other line.
 */
export class Placeholders {
  readonly #ids: ReadonlyMap<string, { readonly kind: string; readonly text: string }>;

  /**
   * `shared`: ids that several users have. `numbers` collects the numbers of these ids; without it, they are not numbered.
   */
  constructor(ids: Ids, shared: ReadonlyMap<string, string>, numbers?: Map<string, number>) {
    const used = new Map<string, number>();
    this.#ids = new Map(
      [...ids].map(([id, { kind: ownKind, count }]) => {
        const kind = shared.get(id);
        if (kind !== undefined) {
          if (numbers !== undefined && !numbers.has(id)) numbers.set(id, numbers.size + 1);
          const number = numbers === undefined ? '' : ` ${numbers.get(id)}`;
          return [id, { kind: ownKind, text: `<shared ${kind}${number}>` }];
        }
        if (count === 1) return [id, { kind: ownKind, text: `<${ownKind}>` }];
        const number = (used.get(ownKind) ?? 0) + 1;
        used.set(ownKind, number);
        return [id, { kind: ownKind, text: `<${ownKind} ${number}>` }];
      }),
    );
  }

  /** Returns the placeholder of the value at a path. Undefined if the snapshot shows the value itself. */
  ofPath(path: string, value: JsonValue): string | undefined {
    if (path === 'writeKey' && typeof value === 'string') {
      const digest = createHash('sha256').update(value).digest('hex');
      return `<write-key ${digest.slice(0, 12)}>`;
    }
    if (value === null || !Object.hasOwn(ENVIRONMENT_PLACEHOLDERS, path)) return undefined;
    return ENVIRONMENT_PLACEHOLDERS[path];
  }

  /** The placeholder of a text, or the text as JSON. */
  textOf(text: string): string {
    const id = this.#ids.get(text);
    if (id !== undefined) return id.text;
    return RFC_3339.test(text) ? '<time>' : JSON.stringify(text.replaceAll(LOCAL_PORT, '$1:<port>'));
  }

  /** The placeholder without a number (`<anonymous-id>`), or the text as JSON. */
  kindOrText(text: string): string {
    const id = this.#ids.get(text);
    return id === undefined ? this.textOf(text) : `<${id.kind}>`;
  }
}

/** Finds the ids in the messages of one user. */
export function idsOf(messages: readonly JsonValue[]): Ids {
  const kinds = new Map<string, string>();
  for (const message of messages) visitTexts(message, '', (text, key) => noteKind(text, key, kinds));
  const found = new Map<string, { readonly kind: string; count: number }>();
  const count = (text: string): void => {
    const [kind, known] = [kinds.get(text), found.get(text)];
    if (known !== undefined) known.count += 1;
    else if (kind !== undefined) found.set(text, { kind, count: 1 });
  };
  for (const message of messages) visitTexts(message, '', count);
  return found;
}

/**
 * Returns the ids that occur in the messages of several users, each with its kind, such as `anonymous-id`. The result does
 * not depend on the order of the users.
 */
export function sharedIds(users: readonly Ids[]): ReadonlyMap<string, string> {
  const kinds = new Map<string, string[]>();
  for (const ids of users) {
    for (const [id, { kind }] of ids) {
      const known = kinds.get(id);
      if (known === undefined) kinds.set(id, [kind]);
      else known.push(kind);
    }
  }
  const shared = [...kinds].filter(([, ofUsers]) => ofUsers.length > 1);
  return new Map(shared.map(([id, ofUsers]) => [id, ofUsers.toSorted()[0] ?? '']));
}

/** Notes the kind of an id: `message-id` or `anonymous-id` if any field of that name has it, otherwise `id` for a UUID. */
function noteKind(text: string, key: string, kinds: Map<string, string>): void {
  const field = Object.hasOwn(ID_FIELDS, key) ? ID_FIELDS[key] : undefined;
  if (text === '') return;
  if (field !== undefined) kinds.set(text, field);
  else if (!kinds.has(text) && UUID.test(text)) kinds.set(text, 'id');
}

/** Visits each string of a value with its key. Visits the keys of an object in sorted order. */
function visitTexts(value: JsonValue, key: string, visit: (text: string, key: string) => void): void {
  if (typeof value === 'string') visit(value, key);
  else if (isJsonObject(value)) {
    for (const name of Object.keys(value).toSorted()) visitTexts(value[name] ?? null, name, visit);
  } else if (isJsonArray(value)) {
    for (const item of value) visitTexts(item, '', visit);
  }
}
