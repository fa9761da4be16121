import { randomBytes } from 'node:crypto';

/**
 * Ids of deliveries, unique by 72 random bits, then counted: ids that follow one another lie together in an index.
 * They start with a digit or a letter: what starts with `-` would be a flag on a command line.
 */
export function createDeliveryIds(): () => string {
  const prefix = randomBytes(9).toString('hex');
  let count = 0;
  return () => `${prefix}-${(count++).toString(36).padStart(6, '0')}`;
}
