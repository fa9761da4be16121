import { STRING, textOfLiteral, withoutNewlines } from './json-text.ts';

/** Traces of how a JSON text was written. Two texts of the same JSON with equal traces were written alike. */
export function tracesOf(
  text: string,
): Readonly<Record<'order' | 'layout' | 'escapes' | 'numbers' | 'end', string>> {
  const literals = text.match(STRING) ?? [];
  const bare = text.trim().replaceAll(STRING, '');
  const marks = bare.match(/\s*[,:{}[\]]\s*/g) ?? [];
  return {
    order: literals.map(textOfLiteral).join('\0'),
    layout: [...new Set(marks)].toSorted().join('\0'),
    escapes: literals.toSorted().join('\0'),
    numbers: (bare.match(/[^\s,:{}[\]]+/g) ?? []).toSorted().join('\0'),
    end: text.slice(withoutNewlines(text).length),
  };
}
