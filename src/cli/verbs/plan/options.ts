import type { GlobalOptions } from '../../command.ts';

/** The options of `hooks plan lint`. */
export interface LintFlags extends GlobalOptions {
  readonly allowUnplanned?: true;
  readonly maxViolations?: number;
  readonly report?: string;
}
