import { hash } from 'node:crypto';
import { paddedKey, type HmacAlgorithm, type HmacFrame } from '../../signature/hmac.ts';
import type { Variant } from './change.ts';
import type { BodyCandidate } from './body/body-changes.ts';
import { DIGEST_BYTES } from './constructs.ts';
import type { Secret } from './secret-changes.ts';

/** The padded keys of the two hashes of an HMAC (RFC 2104). */
interface KeyBlocks {
  readonly inner: Uint8Array;
  /** The outer padded key, followed by room for the inner digest. */
  readonly outer: Buffer;
}

/**
 * Computes the HMACs of many bodies with many keys, in a third of the time of `createHmac`: each body stands in a buffer
 * behind room for the padded key, `hash` needs no object for each digest, and a latin1 string is cheaper than a Buffer.
 */
export class ManyHmacs {
  readonly #algorithm: HmacAlgorithm;
  readonly #before: Buffer;
  readonly #after: Buffer;
  readonly #keys = new Map<Variant<Secret>, KeyBlocks>();
  readonly #bodies = new Map<Variant<BodyCandidate>, Uint8Array>();

  constructor(algorithm: HmacAlgorithm, { before, after }: HmacFrame) {
    this.#algorithm = algorithm;
    this.#before = Buffer.from(before);
    this.#after = Buffer.from(after);
  }

  /** Returns the HMAC as a string with one latin1 character per byte. */
  digest(secret: Variant<Secret>, body: Variant<BodyCandidate>): string {
    const { inner, outer } = this.#keys.get(secret) ?? this.#keyBlocks(secret);
    const signed = this.#bodies.get(body) ?? this.#signedText(body, inner.length);
    signed.set(inner);
    outer.write(hash(this.#algorithm, signed, 'binary'), inner.length, 'binary');
    return hash(this.#algorithm, outer, 'binary');
  }

  #keyBlocks(secret: Variant<Secret>): KeyBlocks {
    const { inner, outer } = paddedKey(this.#algorithm, secret.value);
    const room = Buffer.alloc(outer.length + DIGEST_BYTES[this.#algorithm]);
    room.set(outer);
    const blocks = { inner, outer: room };
    this.#keys.set(secret, blocks);
    return blocks;
  }

  #signedText(variant: Variant<BodyCandidate>, room: number): Uint8Array {
    const { bytes } = variant.value.body;
    const end = room + this.#before.length + bytes.length;
    const signed = new Uint8Array(end + this.#after.length);
    signed.set(this.#before, room);
    signed.set(bytes, end - bytes.length);
    signed.set(this.#after, end);
    this.#bodies.set(variant, signed);
    return signed;
  }
}
