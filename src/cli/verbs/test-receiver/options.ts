import type { GlobalOptions } from '../../command.ts';
import type { IdempotenceFlags } from './idempotence/options.ts';
import type { SchemeFlags } from '../../flags/signature/scheme-flags.ts';
import type { SecretFlags } from '../../flags/signature/secret-flags.ts';

/** As reports name it. */
export const TEST_SUITE = 'hooks test';

export interface TestOptions extends GlobalOptions, SecretFlags, SchemeFlags, IdempotenceFlags {
  readonly header?: readonly string[];
  readonly timeout?: string;
  /** A PEM file. */
  readonly ca?: string;
  /** Codes of checks. */
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  /** Files. */
  readonly capture?: readonly string[];
  readonly list?: true;
  /** A file. */
  readonly report?: string;
  /** Ms. @default 30_000 */
  readonly startTimeout?: number;
}
