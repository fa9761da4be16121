import type { Respond } from './counterparts.ts';
import type { Scene, Values } from './scene.ts';

/**
 * A mistake that people make, and what the output must say about it. The suite runs each with a real counterpart;
 * docs/troubleshooting.md quotes their sentences.
 *
 * In `cause`, `fix` and `never`, `…` stands for any text within a line. In them, in `argv` and in the values of `given.env` and
 * `given.files`, `{name}` stands for a value of the arrangement: {dir} the current folder, {url} and {port} the receiver's, and whatever
 * `given.start` returns.
 */
export interface AnswerCase {
  /** Stable, unique, in kebab case. */
  readonly id: string;
  /** What was done wrong, or what is in the way: the page shows it. A phrase without a full stop. */
  readonly title: string;
  readonly given?: Given;
  /** What is typed after `hooks`. */
  readonly argv: readonly string[];
  /** The words of the output (stdout and stderr) that name the cause, as a person would search for them. */
  readonly cause: string;
  /** The words of the output that say how to fix it. */
  readonly fix: string;
  /** @default 1 */
  readonly exitCode?: number;
  /** Misleading texts that must not stand in the output. */
  readonly never?: readonly string[];
  /** How many faults the output explains with `wrong:`. @default 1 of hooks test, not looked at elsewhere */
  readonly faults?: number;
  /** The most requests that `given.receiver` may see. */
  readonly maxRequests?: number;
  /** What else is wrong once the command has ended, as a file that stays behind. */
  readonly faultsAfter?: (values: Values) => readonly string[];
  /** Mounts a disk, which takes root: it runs in disks.system.test.ts. */
  readonly needsDisk?: true;
  /** What the output does not say yet. Such a case counts as missed, and fails as soon as the output says it. */
  readonly missed?: string;
}

/** What a case begins with. */
export interface Given {
  /** A receiver over plain HTTP on 127.0.0.1, which gives {url} and {port}. */
  readonly receiver?: Respond;
  /** Files in the current folder. */
  readonly files?: Readonly<Record<string, string | Uint8Array>>;
  /** Variables besides PATH and HOME; none of the machine's settings is in effect. */
  readonly env?: Readonly<Record<string, string>>;
  readonly stdin?: string | Uint8Array;
  /** Starts whatever else is needed: a proxy, a TLS server, a file's mode. Runs last and may use the values so far. */
  readonly start?: (scene: Scene) => Values | Promise<Values> | void | Promise<void>;
}

/** The cases of one file, which are a section of the page. */
export interface AnswerTheme {
  readonly title: string;
  readonly cases: readonly AnswerCase[];
}
