import { createWriteStream } from 'node:fs';
import { once } from 'node:events';

/**
 * Writes a file of NDJSON with tracks, each of a different user.
 *
 * @param {string} file
 * @param {number} count
 * @param {{ context?: boolean }} [options] with `context`, messages have about 1 KB like those of a browser, otherwise 300 bytes
 */
export async function writeMessages(file, count, { context = false } = {}) {
  const out = createWriteStream(file);
  for (let index = 0; index < count; index++) {
    const text = context
      ? JSON.stringify({ ...JSON.parse(message(index)), context: CONTEXT })
      : message(index);
    if (!out.write(`${text}\n`)) await once(out, 'drain');
  }
  out.end();
  await once(out, 'finish');
}

const CONTEXT = {
  ip: '203.0.113.7',
  locale: 'de-DE',
  timezone: 'Europe/Berlin',
  library: { name: 'analytics.js', version: 'next-1.70.0' },
  userAgent:
    'Mozilla/5.0 (X11; Linux x86_64) AppleWebKit/537.36 (KHTML, like Gecko) Chrome/130.0.0.0 Safari/537.36',
  page: {
    path: '/shop/checkout/done',
    referrer: 'https://shop.example/shop/checkout/payment?step=3&method=card',
    search: '?order=latest&utm_campaign=autumn',
    title: 'Thank you for your order – Example Shop',
    url: 'https://shop.example/shop/checkout/done?order=latest&utm_campaign=autumn',
  },
  campaign: { name: 'autumn', source: 'newsletter', medium: 'email', content: 'hero-banner' },
  device: { type: 'desktop', manufacturer: 'unknown', model: 'unknown' },
  screen: { width: 1920, height: 1080, density: 1.25 },
};

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
