import { readdirSync, readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { encodeBody } from '../../src/message/outgoing-message.ts';
import { buildMessage } from '../../src/message/build.ts';
import { readJson } from '../../src/message/json/read-json.ts';
import { MESSAGE_TYPES, type MessageType } from '../../src/message/types.ts';
import { sign } from '../sign.ts';

const FIXTURES = new URL('../../fixtures/', import.meta.url);
const SECRET = 'hooks-fixture-secret';
const file = (path: string): Buffer => readFileSync(new URL(path, FIXTURES));

/** The keys of each fixture's body, written by hand from the contract: the row of the type, then the other fields. */
const KEYS = {
  page: ['version', 'type', 'userId', 'anonymousId', 'properties', 'timestamp', 'messageId', 'context'],
  screen: ['version', 'type', 'userId', 'name', 'timestamp', 'messageId', 'properties', 'context'],
  identify: ['version', 'type', 'userId', 'anonymousId', 'traits', 'timestamp', 'messageId', 'context'],
  track: ['version', 'type', 'userId', 'event', 'properties', 'timestamp', 'messageId', 'context'],
  alias: ['version', 'type', 'Previous ID', 'User ID', 'timestamp', 'messageId', 'context'],
  group: ['version', 'type', 'groupId', 'userId', 'traits', 'timestamp', 'messageId', 'context'],
  delete: ['type', 'userId', 'timestamp', 'messageId', 'context'],
} as const satisfies Record<MessageType, readonly string[]>;

describe('fixtures', () => {
  it('are one per type', () => {
    const names = readdirSync(FIXTURES).filter((name) => name.endsWith('.json'));
    expect(names.toSorted()).toEqual(MESSAGE_TYPES.map((type) => `${type}.json`).toSorted());
  });

  describe.each(MESSAGE_TYPES)('%s', (type) => {
    const golden = file(`golden/${type}.body`);

    it('becomes its golden body, byte for byte', () => {
      const message = buildMessage(readJson(file(`${type}.json`)), { now: Date.now(), strict: true });
      expect(encodeBody(message)).toBe(golden.toString());
    });

    it('has a golden body in the order of the contract that is a fixed point', () => {
      const parsed: unknown = JSON.parse(golden.toString());
      expect(Object.keys(parsed as object)).toEqual(KEYS[type]);
      expect(Buffer.from(JSON.stringify(parsed)).equals(golden)).toBe(true);
    });

    it('has the golden signature of its golden body', () => {
      const signature = sign(golden, SECRET);
      expect(file(`golden/${type}.sig`).toString()).toBe(signature);
    });
  });
});
