import { type FieldKind, MESSAGE_VERSION } from './fields.ts';
import { formatPath } from '../json/json-path.ts';
import { type Plain, toPlain } from '../plain.ts';
import { type Problem, shownValue } from '../problem.ts';
import { readTimestamp } from '../timestamp.ts';
import type { JsonValue } from '../types.ts';
import { isFieldObject } from './validate.ts';

/** The value of one field, as its kind wants it; `spelling` is how the input calls it. `isParsed`: JSON.parse made it. */
export function readField(kind: FieldKind, spelling: string, value: unknown, isParsed: boolean): Plain {
  const problem = problemOf(kind, spelling, value);
  if (problem !== undefined) return { ok: false, problem };
  if (kind === 'timestamp') return readTime(spelling, value);
  return isParsed ? { ok: true, value: value as JsonValue } : toPlain(value, spelling); // parsed from JSON
}

function problemOf(kind: FieldKind, spelling: string, value: unknown): Problem | undefined {
  switch (kind) {
    case 'name':
      if (typeof value === 'string' && value !== '') return undefined;
      return expected(spelling, 'to be a non-empty string', value, textHint(value));
    case 'text':
      if (typeof value === 'string') return undefined;
      return expected(spelling, 'to be a string', value, textHint(value));
    case 'object':
      return isFieldObject(value) ? undefined : expected(spelling, 'to be an object', value, OBJECT_HINT);
    case 'version':
      if (value === MESSAGE_VERSION) return undefined;
      return expected(spelling, `to be ${MESSAGE_VERSION}`, value, 'leave it out: it is added');
    case 'integrations':
      return integrationsProblem(spelling, value);
    case 'timestamp':
    case 'type':
    case 'any':
      return undefined;
    default:
      return kind satisfies never;
  }
}

function readTime(spelling: string, value: unknown): Plain {
  const reading = readTimestamp(value);
  if (reading.ok) return { ok: true, value: reading.iso };
  return { ok: false, problem: expected(spelling, `to be ${reading.expected}`, value, reading.hint) };
}

function integrationsProblem(spelling: string, value: unknown): Problem | undefined {
  if (!isFieldObject(value)) return expected(spelling, 'to be an object', value, OBJECT_HINT);
  for (const [name, choice] of Object.entries(value)) {
    if (typeof choice === 'boolean' || isFieldObject(choice) || choice === undefined) continue;
    const path = formatPath([spelling, name]);
    const hint = 'true sends to that destination, false does not';
    return {
      path,
      sentence: `expected \`${path}\` to be true, false or an object`,
      got: shownValue(choice),
      hint,
    };
  }
  return undefined;
}

const OBJECT_HINT = 'write it as {"key":"value"}, or leave it out';

function expected(spelling: string, what: string, value: unknown, hint: string): Problem {
  return {
    path: formatPath([spelling]),
    sentence: `expected \`${spelling}\` ${what}`,
    got: shownValue(value),
    hint,
  };
}

function textHint(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'bigint') return `quote it: "${value}"`;
  return value === '' ? 'give it a value, or leave it out' : 'write it as text: "…"';
}
