import { expect } from 'vitest';
import {
  prepareEntry,
  readyEntry,
  type ReadyOptions,
} from '../../../../src/cli/verbs/replay/entry-message.ts';
import { createRewrite } from '../../../../src/replay/rewrite.ts';
import { buildParsed } from '../../../../src/message/build.ts';
import type { JsonObject } from '../../../../src/message/types.ts';
import { encodeBody } from '../../../../src/message/outgoing-message.ts';
import { randomFrom } from '../../../random.ts';

const AT = Date.parse('2026-11-20T21:10:05.123Z');
const rewrite = (timestamps: 'keep' | 'now'): ReadyOptions['rewrite'] =>
  createRewrite({ timestamps, messageIds: 'keep', now: () => AT, newId: () => 'new' });
export const OPTIONS: ReadyOptions = { exact: false, strict: false, rewrite: rewrite('keep'), now: () => AT };
export const REWRITTEN: ReadyOptions = { ...OPTIONS, rewrite: rewrite('now') };

const ROWS = {
  track: ['version', 'type', 'userId', 'anonymousId', 'event', 'properties', 'timestamp'],
  page: ['version', 'type', 'userId', 'anonymousId', 'properties', 'timestamp'],
  screen: ['version', 'type', 'userId', 'anonymousId', 'name', 'timestamp'],
  identify: ['version', 'type', 'userId', 'anonymousId', 'traits', 'timestamp'],
  alias: ['version', 'type', 'Previous ID', 'User ID', 'timestamp'],
  group: ['version', 'type', 'groupId', 'userId', 'anonymousId', 'traits', 'timestamp'],
  // The version is optional in a delete message.
  delete: ['version', 'type', 'userId', 'anonymousId', 'timestamp'],
} as const;
const TYPES = Object.keys(ROWS) as (keyof typeof ROWS)[]; // its keys, as declared above
const RIGHT = new Map([
  ['version', '1'],
  ['timestamp', '"2026-11-20T21:10:05.123Z"'],
]);
const OTHERS =
  'messageId channel receivedAt integrations sentAt writeKey name category traits extra 7 __proto__'.split(
    ' ',
  );
const NUMBERS =
  '0 -0 1 100 1e2 1E+2 1000 1e3 1200 0.05 5e-2 0.1 1e-7 129.95 129.950 1.0 1e21 1e400 0.30000000000000004 999999999999999 9007199254740993 123456789012345678901'.split(
    ' ',
  );
const STRINGS = '"" "a" "é–😀" "\\n" "\\u0041" "\\ud800" "\\/" "\u2028" ",1e2" "[5e1" "\u007f"'.split(' ');
const KEYS = '"a" "b" "a" "__proto__" "0" "10" "4294967296" "-1" "\\u0061" "" "toJSON" "2fa"'.split(' ');

/** Generates JSON texts of messages as clients, scripts and attackers write them. About half need no rewriting. */
class Texts {
  readonly #random: () => number;

  constructor(seed: number) {
    this.#random = randomFrom(seed);
  }

  message(): string {
    const type = this.#of(TYPES);
    const row = ROWS[type].filter(
      (name) =>
        (name !== 'anonymousId' || this.#chance(0.3)) &&
        (name !== 'version' || type !== 'delete' || this.#chance(0.5)),
    );
    const members = row.filter(() => !this.#chance(0.005)).map((name) => [name, this.#field(name, type)]);
    while (this.#chance(0.4)) {
      const name = this.#of(OTHERS);
      members.push([name, name === 'integrations' ? '{"All":true}' : this.#value(2)]);
    }
    if (this.#chance(0.5)) members.push(['context', this.#object(2)]);
    while (this.#chance(0.4)) {
      const place = (): number => Math.floor(this.#random() * members.length);
      members.splice(place(), 0, ...members.splice(place(), 1));
    }
    if (this.#chance(0.03)) members.push(this.#of(members));
    const space = this.#chance(0.03) ? ' ' : '';
    const text = `{${members.map(([name, value]) => `${JSON.stringify(name)}:${space}${value}`).join(',')}}`;
    return this.#chance(0.02) ? `\ufeff${text}` : text;
  }

  #field(name: string, type: string): string {
    if (this.#chance(0.005)) return 'null';
    if (name === 'type') return `"${type}"`;
    const right = RIGHT.get(name);
    if (right !== undefined) {
      return this.#chance(0.03) ? this.#of(['1.0', '"2026-11-20T22:10:05.123+01:00"', '10e-1']) : right;
    }
    return name === 'properties' || name === 'traits'
      ? this.#object(2)
      : this.#of(['"u"', '"é"', '"\\u0041"', '"100"']);
  }

  #value(depth: number): string {
    const kind = Math.floor(this.#random() * (depth > 0 ? 6 : 4));
    if (kind === 0) {
      return this.#chance(0.5) ? String(Math.round(this.#random() * 2000) / 20) : this.#of(NUMBERS);
    }
    if (kind === 1) return this.#chance(0.6) ? '"plain"' : this.#of(STRINGS);
    if (kind < 4) return this.#of(['true', 'false', 'null', '{}', '[]']);
    return kind === 4
      ? this.#object(depth - 1)
      : `[${this.#several(() => this.#value(depth - 1)).join(',')}]`;
  }

  #object(depth: number): string {
    const key = (): string => (this.#chance(0.7) ? `"k${Math.floor(this.#random() * 1e6)}"` : this.#of(KEYS));
    return `{${this.#several(() => `${key()}:${this.#value(depth)}`).join(',')}}`;
  }

  #several(make: () => string): string[] {
    return Array.from({ length: Math.floor(this.#random() * 4) }, make);
  }

  #chance(share: number): boolean {
    return this.#random() < share;
  }

  #of<T>(items: readonly T[]): T {
    return items[Math.floor(this.#random() * items.length)] as T; // the lists above are not empty
  }
}

interface Sent {
  readonly exactBody: Buffer | undefined;
  /** The serialized message of the entry. */
  readonly written: Buffer;
  /** The serialized message as built field by field. */
  readonly built: Buffer;
}

/** Returns the bytes of a text that would be sent. Undefined if the text is not a valid message. */
export function sentOf(text: string, options: ReadyOptions): Sent | undefined {
  const entry = { kind: 'message', origin: { file: 'f', line: 1 }, bytes: Buffer.from(text) } as const;
  const found = readyEntry(prepareEntry(entry, options), options);
  if (found.error !== undefined) return undefined;
  const { message, exactBody } = found.ready;
  const built = buildParsed(options.rewrite(found.value as JsonObject), { now: AT }); // an object, since readyEntry accepted it
  return {
    exactBody: exactBody && Buffer.from(exactBody),
    written: Buffer.from(encodeBody(message)),
    built: Buffer.from(encodeBody(built)),
  };
}

/** Expects the exact body, the serialized message and the built message to be the same bytes, for 26,000 messages. */
export function expectSameBytes(seed: number, options: ReadyOptions = OPTIONS): void {
  const texts = new Texts(seed);
  const count = { sent: 0, same: 0, kept: 0, spliced: 0 };
  for (let index = 0; index < 26_000; index++) {
    const text = texts.message();
    const sent = sentOf(text, options);
    if (sent === undefined) continue;
    count.sent++;
    if (!sent.written.equals(sent.built)) expect(sent.written.toString()).toBe(sent.built.toString());
    const isSame = sent.written.equals(Buffer.from(text));
    if (isSame) count.same++;
    if (sent.exactBody === undefined) continue;
    count[isSame ? 'kept' : 'spliced']++;
    if (!sent.exactBody.equals(sent.written)) {
      expect(sent.exactBody.toString()).toBe(sent.written.toString());
    }
  }
  // The comparison above is meaningless unless enough messages take each path.
  expect(count.sent).toBeGreaterThan(20_000);
  expect(count.spliced).toBeGreaterThan(count.sent * 0.1);
  expect(count.kept).toBeLessThan(count.same);
  if (options === OPTIONS) expect(count.kept).toBeGreaterThan(count.same * 0.5);
}
