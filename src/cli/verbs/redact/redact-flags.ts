import type { GlobalOptions } from '../../command.ts';
import type { SecretFlags } from '../../flags/signature/secret-flags.ts';

/** The flags of `hooks redact`, as typed. */
export interface RedactFlags extends GlobalOptions, SecretFlags {
  readonly to?: string;
  readonly check?: true;
  readonly keep?: readonly string[];
  readonly drop?: readonly string[];
  readonly keyFile?: string;
}
