import { formatCount } from '../../message/limits.ts';
import { printable } from '../../redact.ts';
import type { Origin } from './replay-entry.ts';

/** Counts the captures whose signature did not verify when the request arrived. Their messages may be forged. */
export class InvalidCaptures {
  #count = 0;
  #first: Origin | undefined;

  readonly add = (origin: Origin): void => {
    this.#count++;
    this.#first ??= origin;
  };

  /** Returns a sentence with the number of these captures. Undefined if there are none. */
  get remark(): string | undefined {
    if (this.#first === undefined) return undefined;
    const { file, line } = this.#first;
    const place = printable(`${file}:${line}`);
    return this.#count === 1
      ? `${place} is a capture whose signature did not verify; its messages are included`
      : `${formatCount(this.#count)} captures have a signature that did not verify, the first at ${place}; their messages are included`;
  }
}
