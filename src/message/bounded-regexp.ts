import { setFlagsFromString } from 'node:v8';
import { createContext, Script } from 'node:vm';
import { formatDuration } from '../duration.ts';
import { InputError } from '../errors.ts';
import { printable } from '../redact.ts';

/** A regular expression with a time limit. */
export interface BoundedRegExp {
  /** Throws InputError if the pattern takes too long on this text. */
  test(text: string): boolean;
}

/** Time limit of a pattern on one text if V8 cannot match the pattern in linear time. */
const LONGEST_TEST_MS = 1_000;
/**
 * Time limit of a pattern that has exceeded `LONGEST_TEST_MS` on an earlier text, so that further texts do not cost a second
 * each.
 */
const LONGEST_RETEST_MS = 100;
const slowPatterns = new WeakSet<RegExp>();
/** Unicode properties such as `\p{Lu}`, which mean the letters `p{Lu}` without the flag u. */
const NEEDS_UNICODE = /(?<!\\)(?:\\{2})*\\[pP]\{/;

/**
 * Compiles a user's regular expression with a time limit for untrusted texts: by backtracking, `(a+)+$` on 40 letters would
 * block the event loop for hours. V8 switches to linear time after 50,000 backtracks. Patterns for which it cannot
 * (look-around, back references, counts over 20, Unicode properties) are stopped after 1 s. Throws SyntaxError if the
 * pattern is invalid.
 */
export function boundedRegExp(source: string, flags = NEEDS_UNICODE.test(source) ? 'u' : ''): BoundedRegExp {
  const exact = new RegExp(source, flags);
  if (!isLinear(source)) return { test: (text) => testWithin(exact, text) };
  const linear = new RegExp(source);
  if (flags === '') return linear;
  // The linear engine of V8 does not know the flag `u`. For an ASCII pattern, the flag changes matches only in texts with
  // surrogates, so only those texts need the exact pattern.
  if (/[^\0-\x7f]|\\u/.test(source)) return { test: (text) => testWithin(exact, text) };
  return { test: (text) => (/[\ud800-\udfff]/.test(text) ? testWithin(exact, text) : linear.test(text)) };
}

/**
 * Whether V8 can match a pattern in linear time. Compiles the pattern with the flag `l`, which V8 rejects for all other
 * patterns.
 */
export function isLinear(source: string): boolean {
  if (NEEDS_UNICODE.test(source)) return false;
  setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks');
  setFlagsFromString('--enable-experimental-regexp-engine');
  try {
    // oxlint-disable-next-line no-invalid-regexp -- V8 knows the flag while the switch above is on
    return RegExp(source, 'l') instanceof RegExp;
  } catch {
    return false; // also on a V8 that does not know the flags
  } finally {
    setFlagsFromString('--no-enable-experimental-regexp-engine');
  }
}

const script = new Script('pattern.test(text)');
/** The context in which patterns are tested. Created on first use, because that adds 1 ms to the start of a command. */
let context: ReturnType<typeof createContext> | undefined;

/** Tests with a timeout. Takes 0.3 ms, because V8 starts a watchdog thread. */
function testWithin(pattern: RegExp, text: string): boolean {
  context ??= createContext({});
  Object.assign(context, { pattern, text });
  const timeout = slowPatterns.has(pattern) ? LONGEST_RETEST_MS : LONGEST_TEST_MS;
  try {
    return script.runInContext(context, { timeout }) === true;
  } catch (cause) {
    slowPatterns.add(pattern);
    const shown = `${printable(String(pattern), 60)} takes more than ${formatDuration(timeout)} on ${printable(JSON.stringify(text), 60)}`;
    throw new InputError(`The regular expression ${shown}`, {
      cause,
      hint: 'write it without repetition inside repetition, such as a+ for (a+)+',
    });
  }
}
