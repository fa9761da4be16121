import { ConfigError } from '../errors.ts';

/** Collects what is wrong with settings, so that all of it is reported at once. */
export class Faults {
  readonly #faults: ConfigError[] = [];

  /** What `read` gives; undefined when it throws a ConfigError, which is kept. */
  collect<T>(read: () => T): T | undefined {
    try {
      return read();
    } catch (error) {
      if (!(error instanceof ConfigError)) throw error;
      this.#faults.push(error);
      return undefined;
    }
  }

  /** Throws the one fault as it is, and several as one error under `key`. */
  throwIfAny(key: string): void {
    const [first, ...others] = this.#faults;
    if (first === undefined) return;
    if (others.length === 0) throw first;
    const numbered = this.#faults.map((fault, index) => `(${index + 1}) ${faultText(fault)}`);
    const count = numbered.length;
    throw new ConfigError(
      `Expected \`${key}\` that can be used, got ${count} faults: ${numbered.join('; ')}`,
      {
        key,
        hint: 'correct each of them',
      },
    );
  }
}

/** Some sentences name neither the setting nor what it is in. */
function faultText({ key = '', message, hint }: ConfigError): string {
  const holder = key.replace(/\.[^.]*$/, '');
  const named = message.includes(holder) ? message : `${key}: ${message}`;
  return hint === undefined ? named : `${named} (${hint})`;
}
