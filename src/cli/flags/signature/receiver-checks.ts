import type { ReceiverOptions } from '../../../receiver/options.ts';
import type { SignatureScheme } from '../../../signature/schemes/scheme.ts';
import { rejectUnusableSchemes } from '../../../signature/schemes/secrets.ts';
import type { Io } from '../../io.ts';
import { knownSecrets } from './known-secrets.ts';
import { commandSchemes, detectableSchemes, readSchemeFlag, type SignatureFlags } from './scheme-flags.ts';
import { commandSecrets } from './secret-flags.ts';

type ReceiverFlags = SignatureFlags & { readonly requireSignature?: true };

interface ReceiverSchemes extends Pick<ReceiverOptions, 'detectSchemes'> {
  readonly scheme?: readonly SignatureScheme[];
}

/** The options of a receiver about signatures. */
export interface ReceiverChecks extends ReceiverSchemes, Pick<ReceiverOptions, 'knownSecrets'> {
  readonly secrets: readonly string[];
}

/** Returns the secrets and schemes that the receiver of `listen` or `expect` verifies with. Throws ConfigError. */
export async function receiverChecks(flags: ReceiverFlags, io: Io): Promise<ReceiverChecks> {
  const secrets = await commandSecrets(flags, 'verify', io);
  const known = secrets.length === 0 ? undefined : await knownSecrets(flags, io, secrets);
  return { secrets, knownSecrets: known, ...(await receiverSchemes(flags, secrets, io)) };
}

/**
 * Returns the schemes of --scheme, else any whose headers a request has, custom schemes included. With --require-signature:
 * those of --scheme or of the config. Throws ConfigError for a scheme that can use none of the secrets.
 */
async function receiverSchemes(
  flags: ReceiverFlags,
  secrets: readonly string[],
  io: Io,
): Promise<ReceiverSchemes> {
  const isRequired = flags.requireSignature === true;
  const scheme = isRequired ? await commandSchemes(flags, 'verify', io) : await readSchemeFlag(flags, io);
  if (scheme === undefined) return isRequired ? {} : { detectSchemes: await detectableSchemes(flags, io) };
  rejectUnusableSchemes(scheme, secrets);
  return { scheme };
}
