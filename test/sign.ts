import { createHmac } from 'node:crypto';

/** Computes the signature that a receiver expects, without the code of this package. */
export function sign(body: string | Uint8Array, secret: string): string {
  return createHmac('sha1', secret).update(body).digest('hex');
}
