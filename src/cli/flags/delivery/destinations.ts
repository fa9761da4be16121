import type { DestinationOptions, Sources } from '../../../engine/options.ts';

/** Lists the destinations of all sources. */
export function destinationsOf(sources: Sources): readonly DestinationOptions[] {
  return Object.values(sources).flatMap(({ destinations }) => Object.values(destinations));
}

/** Returns the sources with every destination replaced by the result of `change`. */
export function mapDestinations(
  sources: Sources,
  change: (destination: DestinationOptions) => DestinationOptions,
): Sources {
  const entries = Object.entries(sources).map(([name, source]) => {
    const destinations = Object.entries(source.destinations).map(
      ([key, each]) => [key, change(each)] as const,
    );
    return [name, { ...source, destinations: Object.fromEntries(destinations) }] as const;
  });
  return Object.fromEntries(entries);
}
