import { createHmac } from 'node:crypto';

/**
 * The value of `X-Signature`: HMAC-SHA1 over the bytes of the body (a string stands for its UTF-8), keyed with the
 * secret, as 40 lower-case hex digits. The secret is never empty (`readSecret` sees to it).
 *
 * A prepared KeyObject saves 0.1 µs of 1.4 on a body of 400 bytes: not worth keeping secrets in a cache for.
 */
export function sign(body: Uint8Array | string, secret: string | Uint8Array): string {
  return createHmac('sha1', secret).update(body).digest('hex');
}
