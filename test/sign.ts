import { createHmac } from 'node:crypto';

/** The signature that a receiver expects. Not by our own code. */
export function sign(body: string | Uint8Array, secret: string): string {
  return createHmac('sha1', secret).update(body).digest('hex');
}
