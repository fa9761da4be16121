import { InputError } from '../../errors.ts';
import { boundedRegExp, type BoundedRegExp } from '../../message/bounded-regexp.ts';

/** Sources of patterns that took too long on a text. */
const slow = new Set<string>();

/**
 * Compiles a pattern of a plan. A text on which it takes too long does not match: the check of a message ends for every text,
 * because `serve` must keep the message. Throws SyntaxError.
 */
export function planPattern(source: string, flags?: string): BoundedRegExp {
  const pattern = boundedRegExp(source, flags);
  return {
    test: (text) => {
      try {
        return pattern.test(text);
      } catch (error) {
        if (!(error instanceof InputError)) throw error;
        slow.add(source);
        return false;
      }
    },
  };
}

/** Whether a pattern took too long on a text, so that texts may have been rejected that it matches. */
export function isSlowPattern(source: unknown): boolean {
  return typeof source === 'string' && slow.has(source);
}
