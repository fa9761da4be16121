import type { ComparedReceiver } from '../../../../app/compare/compared-receiver.ts';
import type { Sides } from '../../../../replay/compare/compared-response.ts';
import { readStateOf, type StateCommandOptions } from '../../../child/state-commands.ts';
import type { Io } from '../../../io.ts';
import type { CompareOptions } from './options.ts';

/** The lines that only one state has: `missing` only the old one, `added` only the new one. */
export interface StateDifference {
  readonly missing: readonly string[];
  readonly added: readonly string[];
}

/** Time limit of a state command. */
const STATE_TIMEOUT_MS = 10_000;

/** Reads the states of both receivers with the commands of `--state` and `--old-state`, and compares them. */
export class StateComparison {
  readonly #commands: Sides<string>;
  readonly #options: StateCommandOptions;

  /** Returns undefined without `--state`. */
  static of(
    { state, oldState }: CompareOptions,
    receivers: Sides<ComparedReceiver>,
    { env, cwd, signal }: Io,
  ): StateComparison | undefined {
    if (state === undefined || oldState === undefined) return undefined;
    const secrets = [...receivers.old.secrets, ...receivers.new.secrets];
    const options = { env, cwd, signal, timeoutMs: STATE_TIMEOUT_MS, secrets };
    return new StateComparison({ new: state, old: oldState }, options);
  }

  private constructor(commands: Sides<string>, options: StateCommandOptions) {
    this.#commands = commands;
    this.#options = options;
  }

  /**
   * Reads both states until they stop changing, and compares them. Undefined if they are equal, or after an interruption.
   * Throws InputError if a command fails.
   */
  async difference(): Promise<StateDifference | undefined> {
    const { compareStates, settledStateOf } = await import('../../../../idempotence/prove.ts');
    const { signal } = this.#options;
    const reading = Promise.all([
      settledStateOf(() => readStateOf(this.#commands.old, this.#options, '--old-state'), signal),
      settledStateOf(() => readStateOf(this.#commands.new, this.#options), signal),
    ]);
    const states = await reading.catch((error: unknown) => {
      if (signal.aborted) return undefined;
      throw error;
    });
    if (states === undefined) return undefined;
    const [expected, state] = states;
    const { isSame, missing, added } = compareStates({ expected, state });
    return isSame ? undefined : { missing, added };
  }
}
