/** Replaces the characters that HTML reserves by their entities. */
export function encodedEntities(text: string, apostrophe = '&#39;'): string {
  return text
    .replaceAll('&', '&amp;')
    .replaceAll('<', '&lt;')
    .replaceAll('>', '&gt;')
    .replaceAll('"', '&quot;')
    .replaceAll("'", apostrophe);
}

/** Decodes the entities of the characters that HTML reserves. */
export function decodedEntities(text: string): string {
  return text
    .replaceAll(/&#0?39;|&#x27;|&apos;/gi, "'")
    .replaceAll(/&quot;|&#34;/g, '"')
    .replaceAll('&lt;', '<')
    .replaceAll('&gt;', '>')
    .replaceAll('&amp;', '&');
}
