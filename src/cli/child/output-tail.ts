/** Maximum number of characters of output in a report: enough to see why a command failed, but not a whole log. */
const MAX_CHARACTERS = 64_000;

/** The last lines of a command's output, for a report. */
export class OutputTail {
  readonly #lines: string[] = [];
  #length = 0;
  /** Number of lines that `takeNew` has not returned yet. */
  #unread = 0;

  readonly add = (line: string): void => {
    this.#lines.push(line);
    this.#length += line.length + 1;
    this.#unread += 1;
    while (this.#length > MAX_CHARACTERS) this.#length -= (this.#lines.shift()?.length ?? 0) + 1;
  };

  /** Returns the lines that were added since the last call. */
  takeNew(): string {
    const lines = this.#unread === 0 ? [] : this.#lines.slice(-this.#unread);
    this.#unread = 0;
    return lines.join('\n');
  }

  get text(): string {
    return this.#lines.map((line) => `${line}\n`).join('');
  }
}
