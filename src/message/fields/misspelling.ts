import { closest } from '../../suggest.ts';

/** Names that other APIs have for a field, in lower case and without separators. */
const OTHER_NAMES: Readonly<Record<string, readonly string[]>> = {
  type: ['messagetype', 'calltype', 'kind'],
  event: ['eventname', 'eventtype', 'name', 'action'],
  userId: ['uid', 'user', 'distinctid', 'externalid'],
  anonymousId: ['anonid', 'anonymous', 'visitorid'],
  groupId: ['group', 'accountid', 'companyid', 'organizationid'],
  previousId: ['previd', 'oldid', 'aliasid', 'oldusrid'],
  name: ['screenname', 'screen', 'title'],
};

/**
 * Finds the key that was probably meant for a field that is missing: its name in another case, with other separators, two edits
 * away, or as another API has it. `known` are the keys that have a meaning of their own.
 */
export function misspellingOf(
  name: string,
  given: Readonly<Record<string, unknown>>,
  known: ReadonlySet<string> | ReadonlyMap<string, unknown> = new Set<string>(),
): string | undefined {
  const keys = Object.keys(given).filter((key) => isText(given[key]) && !known.has(key));
  const bare = bareKey(name);
  return (
    keys.find((key) => bareKey(key) === bare) ??
    keys.find((key) => closest(key, [name]) !== undefined) ??
    keys.find((key) => OTHER_NAMES[name]?.includes(bareKey(key)) === true)
  );
}

/** What is required is a text; other libraries have numbers for ids. */
function isText(value: unknown): boolean {
  return typeof value === 'string' || typeof value === 'number';
}

function bareKey(key: string): string {
  return key.toLowerCase().replaceAll(/[^a-z0-9]/g, '');
}
