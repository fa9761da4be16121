import { describe, expect, it } from 'vitest';
import { validateReferences, fillIn, referencesIn } from '../../src/config/references.ts';

const PLACE = { name: 'sharedSecret', file: '.hooksrc' };
const lookUp = (name: string): string | undefined => ({ A: '1', B: '${A}', EMPTY: '' })[name];

describe('references', () => {
  it('takes a variable from the environment, anywhere in a string', () => {
    expect(fillIn('x-${A}-${A}', lookUp, PLACE)).toBe('x-1-1');
    expect(fillIn([{ url: 'http://${A}' }, 5, null], lookUp, PLACE)).toEqual([{ url: 'http://1' }, 5, null]);
  });

  it('does not look for references in what a variable holds', () => {
    expect(fillIn('${B}', lookUp, PLACE)).toBe('${A}');
  });

  it('takes an empty variable as the empty string', () => {
    expect(fillIn('${EMPTY}', lookUp, PLACE)).toBe('');
  });

  it('leaves $${ as the two characters', () => {
    expect(fillIn('$${A}', lookUp, PLACE)).toBe('${A}');
    expect(referencesIn('$${A}')).toEqual([]);
    expect(fillIn('$A $$ {A}', lookUp, PLACE)).toBe('$A $$ {A}');
  });

  it('names the variable, the key and the file of one that is unset', () => {
    expect(() => fillIn(['${NONE}'], lookUp, PLACE)).toThrow(
      '`sharedSecret[0]` needs the environment variable NONE, which is not set (from .hooksrc)',
    );
  });

  it.each(['${', '${}', '${A B}', 's3cret${canary', '${1A}'])(
    'complains of %j without showing it',
    (text) => {
      expect(() => validateReferences(text, PLACE)).toThrow(
        '`sharedSecret` has a `${` without the name of a variable (from .hooksrc)',
      );
    },
  );

  it('finds the variables of a value', () => {
    expect(referencesIn({ a: '${A}', b: ['${B}${C}'] })).toEqual(['A', 'B', 'C']);
  });
});
