import type { Settings } from '../../../config/settings.ts';
import { ConfigError } from '../../../errors.ts';
import type { GlobalOptions } from '../../command.ts';
import type { Io } from '../../io.ts';
import { warnOfOddSecrets } from './odd-secret.ts';
import { signingSchemes, signingSecrets, type WhereTo, type WhereToFlags } from '../delivery/where-to.ts';

/**
 * Warns about secrets that look wrong before messages are signed with them. Notes that messages to the URL of a flag are not
 * signed, if destinations of the config have a secret: the secret of one receiver must not sign messages to another.
 */
export function remarkOnSigning(
  to: WhereTo,
  flags: WhereToFlags & Pick<GlobalOptions, 'quiet'>,
  { settings, io }: { readonly settings: Settings; readonly io: Io },
): void {
  if (flags.quiet === true) return;
  warnOfOddSecrets(signingSecrets(to), signingSchemes(to), io);
  if (to.kind !== 'webhooks' || flags.url === undefined) return;
  if (signingSecrets(to).length > 0 || !hasSecrets(settings)) return;
  io.note(
    'note: sent unsigned: the secrets of the config are for its own webhooks; --secret-file FILE signs',
  );
}

/** Whether the config has a secret, even if the variable with its value is not set. */
function hasSecrets(settings: Settings): boolean {
  try {
    return settings.allSecrets().length > 0;
  } catch (error) {
    if (error instanceof ConfigError) return true;
    throw error;
  }
}
