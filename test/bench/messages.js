import { createWriteStream } from 'node:fs';
import { once } from 'node:events';

/**
 * Writes a file of NDJSON: tracks of about 300 bytes, each of a user of its own.
 *
 * @param {string} file
 * @param {number} count
 */
export async function writeMessages(file, count) {
  const out = createWriteStream(file);
  for (let index = 0; index < count; index++) {
    if (!out.write(`${message(index)}\n`)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'finish');
}

/** @param {number} index */
export function message(index) {
  return JSON.stringify({
    version: 1,
    type: 'track',
    userId: `user-${index}`,
    event: 'Order Completed',
    properties: {
      orderId: `order-${index}`,
      total: 129.95,
      currency: 'EUR',
      products: [
        { sku: 'A-1', price: 99.95, quantity: 1 },
        { sku: 'B-2', price: 30, quantity: 1 },
      ],
    },
    timestamp: '2026-11-20T21:10:05.123Z',
    messageId: `message-${index}`,
  });
}
