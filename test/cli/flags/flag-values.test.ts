import { describe, expect, it } from 'vitest';
import { rejectConflicts, type FlagRule } from '../../../src/cli/flags/flag-values.ts';

const RULES: readonly FlagRule[] = [
  { flag: '--cert-out', needs: '--self-signed', hint: 'add --self-signed' },
  { flag: '--count', excludes: ['--at-least', '--at-most'], hint: 'leave one out' },
];

describe('the rules of flags', () => {
  it.each([
    [{ certOut: 'a.pem' }, '`--cert-out` is for `--self-signed`, which is not given', 'add --self-signed'],
    [{ count: 0, atMost: 1 }, '`--count` and `--at-most` cannot be given together', 'leave one out'],
  ])('reject %j', (flags, message, hint) => {
    expect(() => rejectConflicts(flags, RULES)).toThrow(expect.objectContaining({ message, hint }));
  });

  it.each([
    {},
    { selfSigned: true },
    { certOut: 'a.pem', selfSigned: true },
    { count: 1, atLeast: undefined },
    { atLeast: 1, atMost: 2 },
  ])('accept %j', (flags) => {
    expect(() => rejectConflicts(flags, RULES)).not.toThrow();
  });
});
