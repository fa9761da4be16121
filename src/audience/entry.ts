import type { JsonValue } from '../message/types.ts';

/** Never changes: it decides in which row of the store an entry is. */
export const PARTITIONS = 1024;

/** A user, and the value of a computed trait; a member of an audience has the value true. */
export interface AudienceEntry {
  readonly userId: string;
  readonly value: JsonValue;
}

/** The end of an entry, and of its id where a value follows. */
export const MEMBER_END = 0x0a;
export const MEMBER_TAB = 0x09;

/** The start value of FNV-1a. */
export const HASH_SEED = 0x811c9dc5;

/** Adds a byte of the written id to the hash. */
export function hashByte(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193);
}

/** `hash` is that of the id as it is written, without the tab and what follows it. */
export function partitionOf(hash: number): number {
  return (hash ^ (hash >>> 15)) & (PARTITIONS - 1);
}

/** Where the id of the entry that begins at `from` ends: at a tab or the end of the line. */
export function endOfId(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] !== MEMBER_END && bytes[at] !== MEMBER_TAB) at++;
  return at;
}

/** The line of an entry, without its end. Each id is written in one way only, so that lines can be compared as bytes. */
export function writeEntry({ userId, value }: AudienceEntry, kind: 'audience' | 'trait'): string {
  const id = writeId(userId);
  return kind === 'audience' ? id : `${id}\t${JSON.stringify(value)}`;
}

// eslint-disable-next-line no-control-regex -- a line break or a tab would end the id
const NEEDS_ESCAPE = /^"|[\u0000-\u001f]/;

export function writeId(userId: string): string {
  return NEEDS_ESCAPE.test(userId) ? JSON.stringify(userId) : userId;
}

export function readId(written: string): string {
  return written.startsWith('"') ? (JSON.parse(written) as string) : written; // written by writeId
}

export function parseMember(line: string): AudienceEntry {
  const tab = line.indexOf('\t');
  if (tab === -1) return { userId: readId(line), value: true };
  return { userId: readId(line.slice(0, tab)), value: JSON.parse(line.slice(tab + 1)) as JsonValue }; // written by writeEntry
}
