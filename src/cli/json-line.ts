// Characters that JSON leaves as they are and a terminal obeys or reorders: DEL, C1, line separators, bidirectional controls.
const UNSAFE_IN_JSON = /[\u007f-\u009f\u2028\u2029\u061c\u200e\u200f\u202a-\u202e\u2066-\u2069]/g;

/** Formats a value as a line of NDJSON that means exactly the value, and that a terminal may show as it is. */
export function jsonLine(value: object): string {
  return `${escapeInJson(JSON.stringify(value))}\n`;
}

/** Escapes JSON for a terminal. Outside of strings JSON is ASCII: what matches is inside one, where an escape means the same. */
export function escapeInJson(json: string): string {
  return json.replace(UNSAFE_IN_JSON, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
