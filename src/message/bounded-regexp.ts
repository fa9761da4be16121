import { setFlagsFromString } from 'node:v8';
import { createContext, Script } from 'node:vm';
import { formatDuration } from '../duration.ts';
import { InputError } from '../errors.ts';
import { printable } from '../redact.ts';

/** The part of RegExp that says whether a text matches. */
export interface BoundedRegExp {
  /** Throws InputError when the pattern takes too long on this text. */
  test(text: string): boolean;
}

/** How long a pattern may take on one text where its time is not linear. Ms. */
const LONGEST_TEST_MS = 1_000;
/** The same for a pattern that once took longer: what it is tested for fails by then, and each further text would cost a second. */
const LONGEST_RETEST_MS = 100;
const slowPatterns = new WeakSet<RegExp>();

/**
 * A regular expression of a user that is tested on texts from outside. Its time is bounded: `(a+)+$` on 40 letters would take a V8 that
 * backtracks hours, in which no timer and no signal is heard. V8 goes on in linear time after 50,000 backtracks; where it cannot (look-around,
 * back references, counts over 20, Unicode properties), the test is stopped after 1 s. Throws SyntaxError.
 */
export function boundedRegExp(source: string, flags: '' | 'u' = ''): BoundedRegExp {
  const exact = new RegExp(source, flags);
  if (!isLinear(source)) return { test: (text) => testWithin(exact, text) };
  const linear = new RegExp(source);
  if (flags === '') return linear;
  // V8 has no linear time for the flag u, which makes no difference to such a pattern unless the text has a surrogate.
  if (/[^\0-\x7f]|\\[pPu]/.test(source)) return { test: (text) => testWithin(exact, text) };
  return { test: (text) => (/[\ud800-\udfff]/.test(text) ? testWithin(exact, text) : linear.test(text)) };
}

/** Whether V8 can execute a pattern in linear time: the flag `l`, which is there for this question only, takes no other. */
export function isLinear(source: string): boolean {
  setFlagsFromString('--enable-experimental-regexp-engine-on-excessive-backtracks');
  setFlagsFromString('--enable-experimental-regexp-engine');
  try {
    // oxlint-disable-next-line no-invalid-regexp -- V8 knows the flag while the switch above is on
    return RegExp(source, 'l') instanceof RegExp;
  } catch {
    return false; // also on a V8 that knows neither flag
  } finally {
    setFlagsFromString('--no-enable-experimental-regexp-engine');
  }
}

const script = new Script('pattern.test(text)');
/** Made when first needed: a context costs a start 1 ms. */
let context: ReturnType<typeof createContext> | undefined;

/** Such a test takes 0.3 ms: V8 is watched by a thread. */
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
