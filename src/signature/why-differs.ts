import { hasWhiteSpace, readJsonText, withoutNewlines } from './json-text.ts';
import type { NoteCode } from './reason.ts';
import { spelled } from './spell.ts';
import { COMPACT_SPELLING, SPELLINGS } from './spelling.ts';

const BOM = '\ufeff';

/** Why a JSON text is not its own stringified form: the note of a verdict that is valid over the latter. */
export function whyDiffers(text: string, stringified: string): NoteCode {
  if (text.startsWith(BOM)) return 'bom';
  if (withoutNewlines(text) === stringified) return 'trailing-newline';
  const written = text.trim();
  return hasWhiteSpace(written) ? whichSpaces(written) : whichCharacters(written, stringified);
}

function whichSpaces(text: string): NoteCode {
  const node = readJsonText(text);
  const python = SPELLINGS.filter(({ code }) => code === 'python-json');
  return python.some((spelling) => spelled(node, spelling) === text) ? 'python-json' : 'pretty-printed';
}

function whichCharacters(text: string, stringified: string): NoteCode {
  if (text === stringified) return 'pretty-printed'; // the white space was around it
  if (text.includes('\\/')) return 'escaped-slash';
  if (countEscapes(text) > countEscapes(stringified)) return 'escaped-unicode';
  // Moving members about keeps the length; other spellings of numbers and repeated keys do not.
  const asWritten = spelled(readJsonText(text), COMPACT_SPELLING);
  return asWritten.length === stringified.length ? 'reordered-keys' : 'other-encoding';
}

function countEscapes(text: string): number {
  return text.match(/\\u[0-9a-f]{4}/gi)?.length ?? 0;
}
