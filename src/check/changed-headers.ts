import { layoutOf, type HeaderField } from '../signature/schemes/layout.ts';
import type { SignatureScheme } from '../signature/schemes/scheme.ts';

export interface HeaderChange {
  /** Of these schemes. */
  readonly schemes: readonly SignatureScheme[];
  readonly field: HeaderField;
  readonly change: (text: string) => string;
}

/** Signature headers (name, value, name, value …) with one field of some schemes changed. */
export function changedHeaders(
  headers: readonly string[],
  { schemes, field, change }: HeaderChange,
): readonly string[] {
  const changed = [...headers];
  for (const scheme of schemes) {
    for (const { name, parts } of layoutOf(scheme).headers) {
      const at = headers.findIndex((each, index) => index % 2 === 0 && each === name);
      const value = headers[at + 1];
      if (at < 0 || value === undefined) continue;
      const texts = parts.length > 1 ? value.split(scheme.separator ?? ',') : [value];
      changed[at + 1] = texts
        .map((text, index) => {
          const part = parts[index];
          return part?.field === field ? part.text + change(text.slice(part.text.length)) : text;
        })
        .join(scheme.separator ?? '');
    }
  }
  return changed;
}
