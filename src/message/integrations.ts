import type { Integrations } from './types.ts';

/**
 * Whether `integrations` lets a message go to a destination: all do by default, `All: false` turns off all but those
 * that are listed as true. Names are case-sensitive; an object counts as true.
 */
export function isEnabled(integrations: Integrations | undefined, destinationName: string): boolean {
  if (integrations === undefined) return true;
  const chosen = own(integrations, destinationName) ?? own(integrations, 'All') ?? true;
  return chosen !== false;
}

/** A destination may be called `constructor`. */
function own(integrations: Integrations, name: string): Integrations[string] | undefined {
  return Object.hasOwn(integrations, name) ? integrations[name] : undefined;
}
