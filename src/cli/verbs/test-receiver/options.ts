import type { GlobalOptions } from '../../command.ts';
import type { IdempotenceFlags } from './idempotence/options.ts';
import type { SchemeFlags } from '../../flags/signature/scheme-flags.ts';
import type { SecretFlags } from '../../flags/signature/secret-flags.ts';

/** Name of the suite in reports. */
export const TEST_SUITE = 'hooks test';

export interface TestOptions extends GlobalOptions, SecretFlags, SchemeFlags, IdempotenceFlags {
  readonly header?: readonly string[];
  readonly timeout?: string;
  /** Path of a PEM file with the issuers of the receiver's certificate to trust (`--ca`). */
  readonly ca?: string;
  /** Codes of the only checks to run (`--only`). */
  readonly only?: readonly string[];
  readonly skip?: readonly string[];
  /** Paths of captures whose bodies are sent too, signed again (`--capture`). */
  readonly capture?: readonly string[];
  readonly list?: true;
  /** Path of the report to write (`--report`). */
  readonly report?: string;
  /** Time that a started receiver gets until it listens, in ms. @default 30_000 */
  readonly startTimeout?: number;
}
