import { stringified } from '../../../signature/body/json-text.ts';
import { LARGEST_DIAGNOSED } from '../../../signature/body/kept-body.ts';
import type { Written } from './codec.ts';

/** First bytes of gzip, Zstandard and zlib (with its default window size), in hex. */
const MAGIC = ['1f8b', '28b52ffd', '7801', '785e', '789c', '78da'];

export function isPacked(bytes: Buffer): boolean {
  const start = bytes.toString('hex', 0, 4);
  return MAGIC.some((magic) => start.startsWith(magic));
}

/** Decompresses gzip or zlib. Undefined for other or damaged bytes, or if the result would be too large. */
export function unpackedBytes({ bytes }: Written): Buffer | undefined {
  if (!isPacked(bytes)) return undefined;
  const maxOutputLength = Math.max(LARGEST_DIAGNOSED, MOST_UNPACKED * bytes.length);
  try {
    // Loads zlib on demand, because only diagnosing a mismatch needs it, not verifying a signature.
    return process.getBuiltinModule('node:zlib').unzipSync(bytes, { maxOutputLength });
  } catch {
    return undefined;
  }
}

/**
 * Maximum compression ratio of a body that is larger than LARGEST_DIAGNOSED after decompression. Webhook bodies of that
 * size hardly ever compress to less than 1/64.
 */
const MOST_UNPACKED = 64;

/** The text that Python's `str(body)` returns for bytes: `b'…'`. Signing it is a common mistake. */
export function pythonBytesText(bytes: Buffer): string {
  const quoted = pythonQuoted(bytes.toString('latin1'));
  return `b${quoted.replaceAll(/[^ -~]/g, (each) => `\\x${each.charCodeAt(0).toString(16).padStart(2, '0')}`)}`;
}

/** The text that Python's `str(message)` returns after parsing JSON: `{'test': True}`. Undefined if it is not JSON. */
export function pythonText(text: string): string | undefined {
  return stringified(text)?.replaceAll(
    /"(?:[^"\\]|\\.)*"|true|false|null|[,:]/g,
    (part) => PYTHON_WORDS[part] ?? pythonQuoted(JSON.parse(part) as string), // all other parts are string literals
  );
}

const PYTHON_WORDS: Readonly<Record<string, string>> = {
  true: 'True',
  false: 'False',
  null: 'None',
  ',': ', ',
  ':': ': ',
};

/** The string literal that Python's `repr(text)` returns. */
function pythonQuoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replaceAll(quote, `\\${quote}`);
  return quote + escaped + quote;
}

/** The value of a JSON string literal; undefined for other texts. */
export function parsedString(literal: string): string | undefined {
  try {
    const value: unknown = JSON.parse(literal);
    return typeof value === 'string' ? value : undefined;
  } catch {
    return undefined;
  }
}

/**
 * Decodes percent-encoding, and each + as `plus`. Undefined for malformed text, and for text with characters that an
 * encoder would have encoded: double quotes, braces, angle brackets, or white space before other characters.
 */
export function urlDecoded(text: string, plus: '+' | ' '): string | undefined {
  if (/["{}<>]|\s\S/.test(text)) return undefined;
  try {
    return decodeURIComponent(text.replaceAll('+', plus));
  } catch {
    return undefined;
  }
}
