import { keyedHmac, NO_FRAME, type HmacAlgorithm, type HmacFrame, type StreamingHmac } from '../hmac.ts';

/** Length of the longest ending to try: a final CRLF. */
const ENDING_BYTES = 2;

/** Computes the HMACs of a body in chunks with several keys. Holds back the last two bytes in order to try other endings. */
export class BodyDigests {
  readonly algorithm: HmacAlgorithm;
  readonly frame: HmacFrame;
  readonly #hmacs: readonly StreamingHmac[];
  #ending: Uint8Array = new Uint8Array();
  #bytes = 0;

  constructor(algorithm: HmacAlgorithm, keys: readonly (string | Uint8Array)[], frame: HmacFrame = NO_FRAME) {
    this.algorithm = algorithm;
    this.frame = frame;
    this.#hmacs = keys.map((key) => keyedHmac(algorithm, key, frame));
  }

  get bytes(): number {
    return this.#bytes;
  }

  update(chunk: Uint8Array): this {
    this.#bytes += chunk.length;
    if (chunk.length < ENDING_BYTES) return this.#hold(Buffer.concat([this.#ending, chunk]));
    this.#feed(this.#ending);
    return this.#hold(chunk);
  }

  /** The digests of the body, one per key. */
  all(): Buffer[] {
    return this.ending(this.#ending);
  }

  /** The last bytes of the body, in place of which `ending` tries others. */
  get lastBytes(): Buffer {
    return Buffer.from(this.#ending);
  }

  /**
   * Returns the digests of the body with `ending` in place of the last bytes of the body, which `update` holds back for
   * this.
   */
  ending(ending: Uint8Array): Buffer[] {
    return this.#hmacs.map((hmac) => hmac.digest(ending));
  }

  #feed(bytes: Uint8Array): void {
    for (const hmac of this.#hmacs) hmac.update(bytes);
  }

  /** Feeds all but the last bytes, and holds back a copy of the last, because the caller can reuse the chunk. */
  #hold(chunk: Uint8Array): this {
    const start = Math.max(0, chunk.length - ENDING_BYTES);
    this.#feed(chunk.subarray(0, start));
    this.#ending = new Uint8Array(chunk.subarray(start));
    return this;
  }
}
