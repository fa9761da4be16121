/** Maximum number of characters of output in a report: enough to see why a command failed, but not a whole log. */
const MAX_CHARACTERS = 64_000;

/** The last lines of a command's output, for a report. */
export class OutputTail {
  readonly #lines: string[] = [];
  #length = 0;

  readonly add = (line: string): void => {
    this.#lines.push(line);
    this.#length += line.length + 1;
    while (this.#length > MAX_CHARACTERS) this.#length -= (this.#lines.shift()?.length ?? 0) + 1;
  };

  get text(): string {
    return this.#lines.map((line) => `${line}\n`).join('');
  }
}
