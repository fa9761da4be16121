import type { JsonMember } from './json-text.ts';

/** Reorders the members of an object. */
export type MemberOrder = (members: readonly JsonMember[]) => readonly JsonMember[];

const byKey = (left: string, right: string): number => (left < right ? -1 : Number(left > right));
export const sorted: MemberOrder = (members) => members.toSorted((left, right) => byKey(left.key, right.key));
export const byLength: MemberOrder = (members) =>
  members.toSorted((left, right) => left.key.length - right.key.length || byKey(left.key, right.key));

/**
 * Keys of messages in one order that agrees with the order of the fields in the request body of every message type (seven
 * sets of fields: contract, Messages on the wire).
 */
const WIRE_KEYS = [
  'version',
  'type',
  'Previous ID',
  'User ID',
  'groupId',
  'userId',
  'anonymousId',
  'event',
  'name',
  'properties',
  'traits',
  'timestamp',
];

/** Puts the keys of WIRE_KEYS first, in their order, if the object is a message. Other objects keep their order. */
export function wireOrder(members: readonly JsonMember[]): readonly JsonMember[] {
  if (!members.some(({ key }) => key === 'type')) return members;
  const known = WIRE_KEYS.flatMap((key) => members.filter((member) => member.key === key));
  return [...known, ...members.filter(({ key }) => !WIRE_KEYS.includes(key))];
}
