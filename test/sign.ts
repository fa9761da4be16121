import { createHmac } from 'node:crypto';

/** The signature that a receiver expects, independent of the code under test. */
export function sign(body: string | Uint8Array, secret: string): string {
  return createHmac('sha1', secret).update(body).digest('hex');
}
