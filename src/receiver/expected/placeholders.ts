import { isJsonObject, type JsonValue } from '../../message/types.ts';
import { RFC_3339 } from '../../message/timestamp.ts';

/** Fields whose value is an id that is made in each run, and what it is called. */
const ID_FIELDS: Readonly<Record<string, string>> = { messageId: 'message-id', anonymousId: 'anonymous-id' };

const UUID = /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/i;

/** Values of the machine, the browser and the day, at paths of a message. */
const OF_THE_MACHINE: Readonly<Record<string, string>> = {
  'context.ip': '<ip>',
  'context.userAgent': '<user-agent>',
  'context.userAgentData': '<user-agent>',
  'context.locale': '<locale>',
  'context.timezone': '<timezone>',
  'context.screen': '<screen>',
  'context.library.version': '<version>',
  '_metadata.nodeVersion': '<version>',
  timestamp: '<time>',
  originalTimestamp: '<time>',
  sentAt: '<time>',
  receivedAt: '<time>',
};

/** The port of an address of this machine, and of the page's own URL. */
const LOCAL_PORT = /(\bhttps?:\/\/(?:localhost|127\.0\.0\.1|\[::1\])):\d+/g;

/**
 * What stands for values that are new in each run. The same id is the same placeholder: one that occurs once is `<message-id>`, others
 * are numbered, so that a message more or less changes no other line.
 */
export class Placeholders {
  readonly #ids: ReadonlyMap<string, string>;

  constructor(messages: readonly JsonValue[]) {
    const found = new Map<string, { readonly kind: string; count: number }>();
    for (const message of messages) collectIds(message, '', found);
    const shared = new Map<string, number>();
    this.#ids = new Map(
      [...found].map(([id, { kind, count }]) => {
        if (count === 1) return [id, `<${kind}>`];
        const number = (shared.get(kind) ?? 0) + 1;
        shared.set(kind, number);
        return [id, `<${kind} ${number}>`];
      }),
    );
  }

  /** What stands at a path whatever its value; undefined: the value itself counts. */
  ofPath(path: string, value: JsonValue): string | undefined {
    if (value === null || !Object.hasOwn(OF_THE_MACHINE, path)) return undefined;
    return OF_THE_MACHINE[path];
  }

  /** A text as JSON, or what stands for it. */
  textOf(text: string): string {
    const id = this.#ids.get(text);
    if (id !== undefined) return id;
    return RFC_3339.test(text) ? '<time>' : JSON.stringify(text.replaceAll(LOCAL_PORT, '$1:<port>'));
  }
}

function collectIds(
  value: JsonValue,
  key: string,
  found: Map<string, { readonly kind: string; count: number }>,
): void {
  if (typeof value === 'string') {
    const known = found.get(value);
    const field = Object.hasOwn(ID_FIELDS, key) ? ID_FIELDS[key] : undefined;
    const kind = field ?? (UUID.test(value) ? 'id' : undefined);
    if (known !== undefined) known.count += 1;
    else if (kind !== undefined && value !== '') found.set(value, { kind, count: 1 });
  } else if (isJsonObject(value)) {
    for (const name of Object.keys(value).toSorted()) collectIds(value[name] ?? null, name, found);
  } else if (Array.isArray(value)) {
    for (const item of value as readonly JsonValue[]) collectIds(item, '', found); // Array.isArray forgets what JSON is made of
  }
}
