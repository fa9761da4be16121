import type { JsonValue } from '../message/types.ts';
import type { AudienceKind } from './store.ts';

/**
 * Number of partitions of an audience. Must never change, because the partition of an entry is computed from this number,
 * and the row of the store that holds the entry from the partition.
 */
export const PARTITIONS = 1024;

/** A user with the value of a computed trait. For a member of an audience the value is true. */
export interface AudienceEntry {
  readonly userId: string;
  readonly value: JsonValue;
}

/** Byte after each entry: a line break. MEMBER_TAB is the byte between the id and the value of an entry. */
export const MEMBER_END = 0x0a;
export const MEMBER_TAB = 0x09;

/** Start value of the FNV-1a hash. */
export const HASH_SEED = 0x811c9dc5;

/** Adds a byte of a written id to a hash. */
export function hashByte(hash: number, byte: number): number {
  return Math.imul(hash ^ byte, 0x01000193);
}

/** The partition of an id, by the hash of the written id. */
export function partitionOf(hash: number): number {
  return (hash ^ (hash >>> 15)) & (PARTITIONS - 1);
}

/** End of the id of the entry at `from`: a tab or the end of the line. */
export function endOfId(bytes: Uint8Array, from: number): number {
  let at = from;
  while (bytes[at] !== MEMBER_END && bytes[at] !== MEMBER_TAB) at++;
  return at;
}

/** The line of an entry, without its line break. Each id has only one spelling, so that lines can be compared as bytes. */
export function writeEntry({ userId, value }: AudienceEntry, kind: AudienceKind): string {
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
