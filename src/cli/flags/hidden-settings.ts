import type { Settings } from '../../config/settings.ts';
import type { GlobalOptions } from '../command.ts';
import type { Io } from '../io.ts';
import { selectedWay, type WhereToFlags } from './delivery/where-to-flags.ts';

/** Notes after a failed delivery that its URL or its secret is from a variable that hides the one in a config. */
export function noteHiddenSettings(
  flags: WhereToFlags & Pick<GlobalOptions, 'quiet'>,
  settings: Settings,
  io: Pick<Io, 'note'>,
): void {
  const { quiet, secret, secretFile } = flags;
  const names = new Map<string, string>();
  if (selectedWay(flags) === undefined) names.set('webhooks', 'URL');
  if ((secret ?? secretFile) === undefined) names.set('sharedSecret', 'secret');
  for (const { key, origin, hides } of quiet === true ? [] : settings.list()) {
    const name = names.get(key);
    if (!name || !hides) continue;
    const files = hides.join(' and ');
    io.note(
      `note: the ${name} is from ${origin}, which overrides ${files}: unset ${origin} to use the ${name} there`,
    );
  }
}
