import { describe, expect, it } from 'vitest';
import { validateReferences, fillIn, referencesIn } from '../../src/config/references.ts';

const PLACE = { name: 'sharedSecret', file: '.hooksrc' };
const lookUp = (name: string): string | undefined => ({ A: '1', B: '${A}', EMPTY: '' })[name];

describe('references', () => {
  it('are replaced anywhere in a string', () => {
    expect(fillIn('x-${A}-${A}', lookUp, PLACE)).toBe('x-1-1');
    expect(fillIn([{ url: 'http://${A}' }, 5, null], lookUp, PLACE)).toEqual([{ url: 'http://1' }, 5, null]);
  });

  it('are not replaced in the value of a variable', () => {
    expect(fillIn('${B}', lookUp, PLACE)).toBe('${A}');
  });

  it('are replaced by an empty variable', () => {
    expect(fillIn('${EMPTY}', lookUp, PLACE)).toBe('');
  });

  it('are not in $${, which is a literal ${', () => {
    expect(fillIn('$${A}', lookUp, PLACE)).toBe('${A}');
    expect(referencesIn('$${A}')).toEqual([]);
    expect(fillIn('$A $$ {A}', lookUp, PLACE)).toBe('$A $$ {A}');
  });

  it('are reported with variable, key and file if the variable is unset', () => {
    expect(() => fillIn(['${NONE}'], lookUp, PLACE)).toThrow(
      '`sharedSecret[0]` needs the environment variable NONE, which is not set (from .hooksrc)',
    );
  });

  it.each(['${', '${}', '${A B}', 's3cret${canary', '${1A}'])(
    'are rejected in %j without showing the text',
    (text) => {
      expect(() => validateReferences(text, PLACE)).toThrow(
        '`sharedSecret` has a `${` without the name of a variable (from .hooksrc)',
      );
    },
  );

  it('are listed for a value', () => {
    expect(referencesIn({ a: '${A}', b: ['${B}${C}'] })).toEqual(['A', 'B', 'C']);
  });
});
