import { hash, randomBytes } from 'node:crypto';
import type { Lane } from '../queue/queue.ts';

/**
 * Ids of deliveries, unique by 72 random bits, then counted: ids that follow one another lie together in an index.
 * They start with a digit or a letter: what starts with `-` would be a flag on a command line.
 */
export function createDeliveryIds(): () => string {
  const prefix = randomBytes(9).toString('hex');
  let count = 0;
  return () => `${prefix}-${(count++).toString(36).padStart(6, '0')}`;
}

/** The id of what is to be delivered once to a destination, whichever process adds it: a queue adds no id twice. */
export function onceId({ source, destination }: Lane, onceAs: string): string {
  return hash('sha256', JSON.stringify([source, destination, onceAs]), 'hex').slice(0, 32);
}
