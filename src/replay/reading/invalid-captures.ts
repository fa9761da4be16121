import { formatCount } from '../../message/limits.ts';
import { printable } from '../../redact.ts';
import type { Origin } from './replay-entry.ts';

/** Counts the captured requests whose signature was invalid when they were received. Their messages may be forged. */
export class InvalidCaptures {
  #count = 0;
  #first: Origin | undefined;

  readonly add = (origin: Origin): void => {
    this.#count++;
    this.#first ??= origin;
  };

  /** A sentence for the user: the number of these captures, and the place of the first. Undefined if there are none. */
  get remark(): string | undefined {
    if (this.#first === undefined) return undefined;
    const { file, line } = this.#first;
    const place = printable(`${file}:${line}`);
    return this.#count === 1
      ? `${place} is a capture whose signature did not verify; its messages are included`
      : `${formatCount(this.#count)} captures have a signature that did not verify, the first at ${place}; their messages are included`;
  }
}
