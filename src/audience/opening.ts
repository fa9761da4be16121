import { ConfigError, QueueError } from '../errors.ts';
import { printable } from '../redact.ts';
import type { AudienceState, Overview } from '../stores/sqlite/audience-state.ts';
import { traitNameOf } from './trait-name.ts';

interface Wanted extends Pick<Overview, 'kind' | 'name' | 'place'> {
  readonly dryRun?: boolean | undefined;
}

/**
 * The audience of that name at that place, which is made when there is none; a dry run makes none, and gets one with the number
 * 0, which no audience has. Throws ConfigError when the name cannot be used.
 */
export async function findAudience(state: AudienceState, options: Wanted): Promise<Overview> {
  const { kind, name, place, dryRun } = options;
  const trait = traitNameOf(name);
  const check = (others: readonly Overview[]): void => {
    for (const other of others) if (other.name !== name || other.kind !== kind) throw collision(name, other);
  };
  if (!dryRun) return state.findOrMake({ kind, name, trait, place }, check);
  const others = await state.withTrait(trait);
  check(others);
  return (
    others.find((other) => other.place === place) ?? {
      audience: 0,
      kind,
      name,
      trait,
      place,
      members: 0,
      inDoubt: 0,
      createdAt: 0,
      syncedAt: undefined,
      syncPid: undefined,
    }
  );
}

/** One sync of an audience at a time. Returns how to let go; throws QueueError when another one is under way. */
export async function holdAlone(state: AudienceState, audience: Overview): Promise<() => void> {
  const release = await state.hold(audience);
  if (release === undefined) throw underWay(audience);
  try {
    await state.began(audience);
    return release;
  } catch (error) {
    release();
    throw error;
  }
}

function collision(name: string, { kind, name: other, trait }: Overview): ConfigError {
  const what = kind === 'audience' ? 'the audience' : 'the computed trait';
  return new ConfigError(
    `${shown(name)} would be sent as \`${trait}\`, which is ${what} ${shown(other)} already`,
    {
      key: 'name',
      hint: `use that name, or another one; hooks ${kind} forget ${shown(other)} makes it free`,
    },
  );
}

function underWay({ kind, name, syncPid }: Overview): QueueError {
  const who = syncPid === undefined ? 'another process' : `the process ${syncPid}`;
  return new QueueError(`The ${kind} ${shown(name)} is being synced already, by ${who}`, {
    hint: 'wait until it has ended; nothing was sent by this one',
  });
}

function shown(name: string): string {
  return printable(JSON.stringify(name), 200);
}
