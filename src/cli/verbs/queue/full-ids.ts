import { InputError } from '../../../errors.ts';
import type { QueueInspection } from '../../../queue/inspection.ts';
import { printable } from '../../../redact.ts';
import { STATES } from './selection.ts';

/**
 * Completes shortened ids, of which only a unique beginning or end was given. Returns an unknown id unchanged; the command
 * reports it. Throws InputError if several ids begin or end with the given text.
 */
export async function fullIds(
  inspection: QueueInspection,
  given: readonly string[],
): Promise<readonly string[]> {
  const exact = await inspection.getAll(given);
  if (exact.every((delivery) => delivery !== undefined)) return given;
  const all = await inspection.ids(STATES);
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
      hint: `give more of the id: ${some.join(', ')}${found.length > SHOWN ? ' …' : ''}`,
    },
  );
}
