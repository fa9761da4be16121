// Texts and bytes that programs read in a secret. Each function returns undefined, or the secret, if there is nothing to read.

const DASHES = /[\u2010-\u2015\u2212]/g;

export function withoutQuotes(text: string): string {
  return /^(["'`])(.*)\1$/s.exec(text.trim())?.[2] ?? text;
}

/** The value in a line such as `export NAME="value"`. */
export function valueIn(line: string): string | undefined {
  const value = /^(?:export\s+|\$env:)?[A-Za-z_]\w*\s*[=:]\s*(\S.*)$/s.exec(line.trim())?.[1];
  return value === undefined ? undefined : withoutQuotes(value);
}

export function secretLines(text: string): readonly string[] {
  return text.split(/\r?\n/).filter((line) => line.trim() !== '' && !line.startsWith('#'));
}

/** The value of a secret that is a JSON object with one member. */
export function jsonValueIn(text: string): string | undefined {
  return /^\{\s*"[^"]*"\s*:\s*"([^"\\]+)"\s*\}$/.exec(text.trim())?.[1];
}

/** A long number as Go and Helm print it after they read it from YAML. */
export function floatText(secret: string): string | undefined {
  if (!/^\d{7,}$/.test(secret)) return undefined;
  return Number(secret)
    .toExponential()
    .replace(/e\+(\d)$/, 'e+0$1');
}

export function inAscii(text: string): string {
  return text
    .replaceAll(DASHES, '-')
    .replaceAll(/[\u2018\u2019]/g, "'")
    .replaceAll(/[\u201c-\u201f]/g, '"');
}

export function halfOf(text: string): string | undefined {
  const half = text.slice(0, text.length / 2);
  return half + half === text ? half : undefined;
}

export function hexBytes(secret: string): Buffer | undefined {
  return /^(?:[0-9a-f]{2})+$/i.test(secret) ? Buffer.from(secret, 'hex') : undefined;
}

export function base64Bytes(secret: string): Buffer | undefined {
  return /^[\w+/-]+={0,2}$/.test(secret) ? Buffer.from(secret, 'base64') : undefined;
}

/** Decodes base64 to text for further changes: a Kubernetes manifest may hold the base64 of `echo secret`, newline included. */
export function base64Text(secret: string): string | undefined {
  const text = base64Bytes(secret)?.toString();
  return text !== undefined && /^[\x20-\x7e\s]+$/.test(text) ? text : undefined;
}

export function percentDecodedText(secret: string): string | undefined {
  try {
    return decodeURIComponent(secret);
  } catch {
    return undefined;
  }
}
