import type { GlobalOptions } from '../../command.ts';

/** The options of `hooks plan lint`. */
export interface LintFlags extends GlobalOptions {
  readonly allowUnplanned?: true;
  readonly maxViolations?: number;
  readonly report?: string;
}

/** The options of `hooks plan infer`. */
export type InferFlags = GlobalOptions;

/** The options of `hooks plan diff`. */
export interface DiffFlags extends GlobalOptions {
  readonly markdown?: true;
}

/** The options of `hooks plan convert`. */
export interface ConvertFlags extends GlobalOptions {
  readonly to: 'segment' | 'folder';
  /** Folder to write the files to. */
  readonly out?: string;
}
