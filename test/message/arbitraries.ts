import * as fc from 'fast-check';
import type { JsonValue } from '../../src/message/types.ts';

/** Keys that often cause bugs: the prototype, integers (which objects reorder), escapes, lone surrogates. */
export const key: fc.Arbitrary<string> = fc.oneof(
  fc.string({ unit: 'binary', maxLength: 6 }),
  fc.constantFrom(
    '__proto__',
    'constructor',
    'toJSON',
    'hasOwnProperty',
    '0',
    '10',
    '4294967295',
    '-1',
    '',
    '\ud800',
  ),
);

const leaf: fc.Arbitrary<JsonValue> = fc.oneof(
  fc.constant(null),
  fc.boolean(),
  fc.integer(),
  fc.double({ noNaN: true, noDefaultInfinity: true }),
  fc.constantFrom(-0, 5e-324, 1e21, 1.7976931348623157e308, 0.1),
  fc.string({ unit: 'binary', maxLength: 12 }),
  fc.constantFrom('\ud800', '\udc00x', '\u2028', '\u0000', '"\\/'),
);

/** Any JSON value. */
export const { json } = fc.letrec<{ json: JsonValue }>((tie) => ({
  json: fc.oneof(
    { depthSize: 'small', withCrossShrink: true },
    leaf,
    fc.array(tie('json'), { maxLength: 4 }),
    record(tie('json')),
  ),
}));

/** An object with unusual keys. Object.fromEntries makes `__proto__` a plain key. */
export function record<T>(value: fc.Arbitrary<T>): fc.Arbitrary<Record<string, T>> {
  return fc.array(fc.tuple(key, value), { maxLength: 5 }).map((entries) => Object.fromEntries(entries));
}

export const object = record(json);

/** Names of fields that the types have, and of two that none has. */
export const FIELD_NAMES: readonly string[] = `
  userId anonymousId groupId previousId messageId event name category version
  properties traits context integrations timestamp sentAt custom`
  .trim()
  .split(/\s+/);
