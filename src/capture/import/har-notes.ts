import { formatCount } from '../../message/limits.ts';
import { printable } from '../../redact.ts';

/** Collects what a user must know about HAR files besides their requests. */
export class HarNotes {
  #skipped = 0;
  #sanitized: string | undefined;

  /** Counts a request without a body, which is no webhook. */
  skip(): void {
    this.#skipped += 1;
  }

  /** Notes that Chrome wrote a file without secrets. */
  sanitize(file: string): void {
    this.#sanitized ??= file;
  }

  /** The sentence about requests without a body. Undefined if there are none. */
  get skipped(): string | undefined {
    const count = this.#skipped;
    return count === 0
      ? undefined
      : `${formatCount(count)} request${count === 1 ? '' : 's'} without a body skipped`;
  }

  /** The sentence about the first file without secrets. Undefined if there is none. */
  get sanitized(): string | undefined {
    if (this.#sanitized === undefined) return undefined;
    return `${printable(this.#sanitized)} has no Cookie and no Authorization headers; Chrome leaves them out unless you choose "Export HAR (with sensitive data)"`;
  }
}
