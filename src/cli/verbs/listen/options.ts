import type { GlobalOptions } from '../../command.ts';
import type { SchemeFlags } from '../../flags/signature/scheme-flags.ts';
import type { SecretFlags } from '../../flags/signature/secret-flags.ts';

export interface ListenOptions extends GlobalOptions, SecretFlags, SchemeFlags {
  readonly port: number;
  readonly host: string;
  readonly respond?: string;
  readonly requireSignature?: true;
  /** Path of a folder. */
  readonly save?: string;
  /** A URL. */
  readonly forward?: string;
  /** Path of a PEM file. */
  readonly ca?: string;
  readonly selfSigned?: true;
  /** Path of a file. */
  readonly certOut?: string;
  readonly ui?: true;
  readonly filter?: readonly string[];
  readonly count?: number;
  /** Ms. */
  readonly untilIdle?: number;
  /** Ms. */
  readonly within?: number;
}
