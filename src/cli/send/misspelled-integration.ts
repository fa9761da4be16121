import type { Sources } from '../../engine/options.ts';
import { ConfigError } from '../../errors.ts';
import type { Message } from '../../message/types.ts';
import { printable } from '../../redact.ts';
import { closest } from '../../suggest.ts';

/**
 * Throws ConfigError for a name in `integrations` that is almost that of a destination: it would switch nothing, and the message would go
 * where it was not to go. Other names belong to destinations elsewhere.
 */
export function rejectMisspelledIntegration({ integrations = {} }: Message, sources: Sources): void {
  const names = Object.values(sources).flatMap(({ destinations }) => Object.keys(destinations));
  const known = [...names, 'All'];
  for (const name of Object.keys(integrations)) {
    const meant = known.includes(name) ? undefined : closest(name, known);
    if (meant === undefined) continue;
    throw new ConfigError(
      `No destination is called ${printable(name, 80)}: the destinations are ${names.join(', ')}`,
      {
        key: `integrations.${name}`,
        hint: `did you mean ${printable(meant, 80)}? Case matters: --integration ${printable(meant, 80)}=false`,
      },
    );
  }
}
