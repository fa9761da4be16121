import { hash } from 'node:crypto';
import { paddedKey, type HmacAlgorithm, type HmacFrame, type PaddedKey } from '../../signature/hmac.ts';
import type { Bytes } from './codecs/codec.ts';
import { DIGEST_BYTES } from './constructs.ts';
import type { Secret } from './secret-changes.ts';

/** Initial size, in bytes, of the buffer for the padded key, the body and the text that is signed around it. */
const ROOM = 4_096;

/**
 * Computes the HMACs of many bodies with many keys, in a third of the time of `createHmac`. Reuses two buffers for all
 * HMACs, because a search that allocates a buffer for each key and body spends a third of its time on garbage
 * collection.
 */
export class ManyHmacs {
  readonly #algorithm: HmacAlgorithm;
  #secret: Secret | undefined;
  #key: PaddedKey = { inner: new Uint8Array(), outer: new Uint8Array() };
  #signed = Buffer.allocUnsafe(ROOM);
  #outer = Buffer.alloc(0);
  /** A view of the last bytes of `#outer`, after the padded key. `digest` writes the inner hash there. */
  #room = this.#outer;

  constructor(algorithm: HmacAlgorithm) {
    this.#algorithm = algorithm;
  }

  /** Returns the HMAC as a string with one Latin-1 character per byte. */
  digest(secret: Secret, { before, after }: HmacFrame, body: Bytes): string {
    if (secret !== this.#secret) this.#pad(secret);
    const { inner } = this.#key;
    const longest = inner.length + MOST_UTF_8 * (before.length + after.length + body.length);
    if (longest > this.#signed.length) this.#signed = Buffer.allocUnsafe(2 * longest);
    const signed = this.#signed;
    signed.set(inner);
    let end = inner.length;
    if (before !== '') end += signed.write(before, end);
    if (typeof body === 'string') end += signed.write(body, end);
    else {
      signed.set(body, end);
      end += body.length;
    }
    if (after !== '') end += signed.write(after, end);
    this.#room.write(hash(this.#algorithm, signed.subarray(0, end), 'binary'), 'binary');
    return hash(this.#algorithm, this.#outer, 'binary');
  }

  #pad(secret: Secret): void {
    this.#secret = secret;
    this.#key = paddedKey(this.#algorithm, secret);
    const { outer } = this.#key;
    if (this.#outer.length === 0) {
      this.#outer = Buffer.alloc(outer.length + DIGEST_BYTES[this.#algorithm]);
      this.#room = this.#outer.subarray(outer.length);
    }
    this.#outer.set(outer);
  }
}

/** Maximum number of UTF-8 bytes per UTF-16 code unit of a string. */
const MOST_UTF_8 = 3;
