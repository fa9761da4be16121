import { InputError } from '../../../errors.ts';
import type { QueueInspection } from '../../../queue/inspection.ts';
import { printable } from '../../../redact.ts';

/**
 * The whole ids of which only a unique beginning or end was given. One that is neither is returned as it is: that there is no such
 * delivery is for the command to say. Throws InputError for a part of several.
 */
export async function fullIds(
  inspection: QueueInspection,
  given: readonly string[],
): Promise<readonly string[]> {
  const exact = await inspection.getAll(given);
  if (exact.every((delivery) => delivery !== undefined)) return given;
  const all = await inspection.ids(['pending', 'sending', 'retrying', 'delivered', 'dead']);
  return given.map((id, index) => (exact[index] === undefined ? fullId(id, all) : id));
}

const SHOWN = 3;

function fullId(part: string, all: readonly string[]): string {
  const found = all.filter((id) => id.startsWith(part) || id.endsWith(part));
  const [only = part] = found;
  if (found.length < 2) return only;
  const some = found.slice(0, SHOWN).map((id) => printable(id, 80));
  throw new InputError(
    `Expected a unique id, got ${printable(part, 80)}, with which ${found.length} ids begin or end`,
    {
      hint: `give more of it: ${some.join(', ')}${found.length > SHOWN ? ' …' : ''}`,
    },
  );
}
