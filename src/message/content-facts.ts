import { isJson } from './json/read-json.ts';
import { formatCount } from './limits.ts';
import type { JsonValue } from './types.ts';

/** Facts about a body on which a receiver may fail. */
export interface ContentFacts {
  readonly bytes: number;
  /** Levels of nested objects and lists. */
  readonly depth: number;
  /** Values of the fields `type` and `event`. */
  readonly type: string | undefined;
  readonly event: string | undefined;
  /** Names of FEATURES that the body has. */
  readonly features: ReadonlySet<string>;
  /** Paths of the top-level fields and of the fields below them. */
  readonly fields: ReadonlySet<string>;
}

/** Properties of values that receivers handle wrongly, the most frequent cause of failures first. */
const FEATURES = {
  'non-ASCII text': (value) => typeof value === 'string' && /\P{ASCII}/u.test(value),
  emoji: (value) => typeof value === 'string' && /\p{Extended_Pictographic}/u.test(value),
  null: (value) => value === null,
  'an empty object': (value) => isObject(value) && Object.keys(value).length === 0,
  'an empty list': (value) => Array.isArray(value) && value.length === 0,
  'numbers with an exponent': (value) => typeof value === 'number' && String(value).includes('e'),
  'negative numbers': (value) => typeof value === 'number' && value < 0,
  'control characters': (value) => typeof value === 'string' && /\p{Cc}/u.test(value),
  'quotes or backslashes': (value) => typeof value === 'string' && /["\\]/.test(value),
  'characters of HTML': (value) => typeof value === 'string' && /[<>&]/.test(value),
  'a list': (value) => Array.isArray(value),
} as const satisfies Readonly<Record<string, (value: JsonValue) => boolean>>;

/** Matches text that has none of the features. Most values are such text, which one test recognizes. */
const PLAIN_TEXT = /^[ !#-%'-;=?-[\]-~]*$/;

const TESTS = Object.entries<(value: JsonValue) => boolean>(FEATURES);

/** Returns the facts about the text of a body. Undefined if it is not JSON. */
export function contentFactsOf(text: string): ContentFacts | undefined {
  return isJson(text) ? contentFacts(JSON.parse(text) as JsonValue, Buffer.byteLength(text)) : undefined; // JSON.parse returns JSON
}

/** Returns the facts about a parsed body of `bytes` bytes. */
export function contentFacts(body: JsonValue, bytes: number): ContentFacts {
  const features = new Set<string>();
  const fields = new Set<string>();
  let depth = 0;
  const visit = (value: JsonValue, level: number, path: string): void => {
    if (typeof value === 'string' && PLAIN_TEXT.test(value)) return;
    for (const [name, test] of TESTS) if (!features.has(name) && test(value)) features.add(name);
    if (typeof value !== 'object' || value === null) return;
    depth = Math.max(depth, level);
    for (const [key, child] of Object.entries(value)) {
      const at = level > 2 || path === '' ? key : `${path}.${key}`;
      if (level <= 2 && !Array.isArray(value)) fields.add(at);
      visit(child, level + 1, at);
    }
  };
  visit(body, 1, '');
  const { type, event } = isObject(body) ? body : {};
  return { bytes, depth, type: textOrNone(type), event: textOrNone(event), features, fields };
}

function isObject(value: JsonValue): value is { readonly [key: string]: JsonValue } {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

const textOrNone = (value: JsonValue | undefined) => (typeof value === 'string' ? value : undefined);

/** A fact that separates the failed bodies from the passed ones, as predicates of "they". */
export interface BodyDifference {
  /** Predicate of the failed bodies: `have non-ASCII text`. */
  readonly failed: string;
  /** Predicate of the passed bodies: `have none`. */
  readonly passed: string;
}

/** Minimum number of passed bodies: fewer have too many facts in common by chance. */
const MIN_PASSED = 3;
/** Minimum ratio of the sizes to name size as the difference, because a few bytes more can be chance. */
const SIZE_RATIO = 1.25;

/**
 * Returns the first fact that separates the failed bodies from the passed ones completely. Undefined if no fact does, or
 * if there are too few bodies. The fact is likely, not proved, to be the reason for the failures.
 */
export function whatSetsApart(
  failed: readonly ContentFacts[],
  passed: readonly ContentFacts[],
): BodyDifference | undefined {
  const [first] = failed;
  if (first === undefined || passed.length < MIN_PASSED) return undefined;
  const separates = (test: (facts: ContentFacts) => boolean): boolean =>
    failed.every(test) && !passed.some(test);
  const { type, event } = first;
  const [fewest, most] = [Math.min(...failed.map(bytesOf)), Math.max(...passed.map(bytesOf))];
  const deepest = Math.max(...passed.map(({ depth }) => depth));
  const features = Object.keys(FEATURES).filter((name) => separates((facts) => facts.features.has(name)));
  const field = [...first.fields].find((path) => separates(({ fields }) => fields.has(path)));
  const missing = [...(passed[0]?.fields ?? [])].find(
    (path) =>
      passed.every(({ fields }) => fields.has(path)) && !failed.some(({ fields }) => fields.has(path)),
  );
  if (features.length > 0) return { failed: `have ${features.join(' or ')}`, passed: 'have none' };
  if (separates((facts) => facts.type === type)) return { failed: `are of type ${type}`, passed: 'are not' };
  const only = passed[0]?.type;
  if (
    only !== undefined &&
    !failed.some((facts) => facts.type === only) &&
    passed.every((facts) => facts.type === only)
  ) {
    return { failed: `are not of type ${only}`, passed: 'are' };
  }
  if (fewest >= most * SIZE_RATIO) {
    return { failed: `are larger than ${formatCount(most)} bytes`, passed: 'are not' };
  }
  if (separates(({ depth }) => depth > deepest)) {
    return { failed: `are nested deeper than ${deepest} levels`, passed: 'are not' };
  }
  if (missing !== undefined) return { failed: `have no \`${missing}\``, passed: 'have it' };
  if (field !== undefined) return { failed: `have \`${field}\``, passed: 'do not' };
  const isOfOneEvent = event !== undefined && separates((facts) => facts.event === event);
  return isOfOneEvent ? { failed: `have the event "${event}"`, passed: 'do not' } : undefined;
}

const bytesOf = ({ bytes }: ContentFacts): number => bytes;
