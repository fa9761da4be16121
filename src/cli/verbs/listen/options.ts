import type { GlobalOptions } from '../../command.ts';
import type { SchemeFlags } from '../../flags/signature/scheme-flags.ts';
import type { SecretFlags } from '../../flags/signature/secret-flags.ts';

export interface ListenOptions extends GlobalOptions, SecretFlags, SchemeFlags {
  readonly port: number;
  readonly host: string;
  readonly respond?: string;
  readonly requireSignature?: true;
  /** Path of the folder to save each request in (`--save`). */
  readonly save?: string;
  /** URL of the receiver to forward each POST to (`--forward`). */
  readonly forward?: string;
  /** Path of the tracking plan, a file or a folder, with which messages are checked (`--plan`). */
  readonly plan?: string;
  /** Path of a PEM file with the issuers of certificates to trust when forwarding (`--ca`). */
  readonly ca?: string;
  readonly selfSigned?: true;
  /** Path of the file to write the self-signed certificate to (`--cert-out`). */
  readonly certOut?: string;
  readonly ui?: true;
  readonly filter?: readonly string[];
  readonly count?: number;
  /** Time without a request after which to exit, in ms (`--until-idle`). */
  readonly untilIdle?: number;
  /** Time after which to exit, in ms (`--within`). */
  readonly within?: number;
}
