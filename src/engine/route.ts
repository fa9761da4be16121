import { isEnabled } from '../message/integrations.ts';
import type { Integrations } from '../message/types.ts';
import type { SourceOptions } from './options.ts';

/** The destinations of a source that a message with these `integrations` goes to, in the config's order. */
export function route(source: SourceOptions, integrations: Integrations | undefined): readonly string[] {
  const names: string[] = [];
  for (const name in source.destinations) {
    if (source.destinations[name]?.enabled === true && isEnabled(integrations, name)) names.push(name);
  }
  return names;
}
