import { ConfigError, QueueError } from '../errors.ts';
import { printable } from '../redact.ts';
import type { AudienceOverview, AudienceStore } from './store.ts';
import { traitNameOf } from './trait-name.ts';

interface WantedAudience extends Pick<AudienceOverview, 'kind' | 'name' | 'place'> {
  readonly dryRun?: boolean | undefined;
}

/**
 * Finds or creates the audience with this name and place. A dry run does not create the audience, but returns one with the
 * id 0, which no stored audience has. Throws ConfigError if the trait already belongs to an audience of another name or
 * kind.
 */
export async function findAudience(store: AudienceStore, options: WantedAudience): Promise<AudienceOverview> {
  const { kind, name, place, dryRun } = options;
  const trait = traitNameOf(name);
  const check = (others: readonly AudienceOverview[]): void => {
    for (const other of others) if (other.name !== name || other.kind !== kind) throw collision(name, other);
  };
  if (!dryRun) return store.findOrMake({ kind, name, trait, place }, check);
  const others = (await store.list()).filter((each) => each.trait === trait);
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

/** Selects audiences. `name`: name of the audience or of its trait. `place`: undefined selects all places. */
export interface NamedAudience extends Pick<AudienceOverview, 'kind' | 'name'> {
  readonly place?: string | undefined;
}

/** Finds the audiences of this kind and name, at one place or at all places. Throws ConfigError if there are none. */
export function findNamed(
  audiences: readonly AudienceOverview[],
  { kind, name, place }: NamedAudience,
): readonly AudienceOverview[] {
  const named = audiences.filter((each) => each.kind === kind && (each.name === name || each.trait === name));
  const found = named.filter((each) => place === undefined || each.place === place);
  if (found.length > 0) return found;
  const places = named.map((each) => quoted(each.place)).join(', ');
  throw new ConfigError(
    named.length === 0
      ? `There is no ${kind} ${quoted(name)}`
      : `The ${kind} ${quoted(name)} was not synced to ${quoted(place ?? '')}`,
    {
      key: 'name',
      hint: named.length === 0 ? `run hooks ${kind} list to see them` : `choose one of ${places}`,
    },
  );
}

/**
 * Locks an audience, so that only one sync of it runs. Returns a function that unlocks it. Throws QueueError if another sync
 * runs.
 */
export async function holdAlone(store: AudienceStore, audience: AudienceOverview): Promise<() => void> {
  const release = await store.beginSync(audience);
  if (release !== undefined) return release;
  const { kind, name, syncPid } = audience;
  const who = syncPid === undefined ? 'another process' : `the process ${syncPid}`;
  throw new QueueError(`The ${kind} ${quoted(name)} is being synced already, by ${who}`, {
    hint: 'wait until that sync has ended; this one sent nothing',
  });
}

function collision(name: string, { kind, name: other, trait }: AudienceOverview): ConfigError {
  const what = kind === 'audience' ? 'the audience' : 'the computed trait';
  return new ConfigError(
    `${quoted(name)} would be sent as \`${trait}\`, which is ${what} ${quoted(other)} already`,
    {
      key: 'name',
      hint: `use that name, or another one; or remove it: hooks ${kind} forget ${quoted(other)}`,
    },
  );
}

function quoted(text: string): string {
  return printable(JSON.stringify(text), 200);
}
