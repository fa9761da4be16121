import { createHash } from 'node:crypto';

/** What the line of a key is called: a key may be as long as a message, and a user's id should not be read off a list of lines. */
export function lineName(key: string): string {
  return createHash('sha256').update(key).digest('base64url');
}
