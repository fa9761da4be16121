import { hasWhiteSpace, parseJsonTree, withoutNewlines } from './json-text.ts';
import type { NoteCode } from '../reasons.ts';
import { jsonTreeText } from './json-tree-text.ts';
import { PYTHON_SPELLINGS, SORTED_SPELLING } from './spellings.ts';

const BOM = '\ufeff';

/** Finds why a JSON text differs from its stringified form, for the note of a signature that is valid over that form. */
export function whyDiffers(text: string, stringified: string): NoteCode {
  if (text.startsWith(BOM)) return 'bom';
  if (withoutNewlines(text) === stringified) return 'trailing-newline';
  const written = text.trim();
  return hasWhiteSpace(written) ? whichSpaces(written) : whichCharacters(written, stringified);
}

function whichSpaces(text: string): NoteCode {
  const node = parseJsonTree(text);
  const isPython = PYTHON_SPELLINGS.some((spelling) => jsonTreeText(node, spelling) === text);
  return isPython ? 'python-json' : 'pretty-printed';
}

function whichCharacters(text: string, stringified: string): NoteCode {
  if (text === stringified) return 'pretty-printed'; // white space around the JSON
  if (text.includes('\\/')) return 'escaped-slash';
  if (countEscapes(text) > countEscapes(stringified)) return 'escaped-unicode';
  return inOrder(text) === inOrder(stringified) ? 'reordered-keys' : 'other-encoding';
}

/** The text with sorted members. If only the order of members differs between two texts, their results are equal. */
function inOrder(text: string): string {
  return jsonTreeText(parseJsonTree(text), SORTED_SPELLING);
}

function countEscapes(text: string): number {
  return text.match(/\\u[0-9a-f]{4}/gi)?.length ?? 0;
}
