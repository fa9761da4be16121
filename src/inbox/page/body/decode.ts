/** The text of a body, or undefined if the body is not valid UTF-8. Keeps a byte order mark. */
export function exactText(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}
