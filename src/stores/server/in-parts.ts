/** Calls `act` for parts of at most `most` items, one after the other, and returns the results of all parts in order. */
export async function inParts<T, R>(
  all: readonly T[],
  most: number,
  act: (some: readonly T[]) => Promise<Iterable<R>>,
): Promise<readonly R[]> {
  const results: R[] = [];
  for (let at = 0; at < all.length; at += most) results.push(...(await act(all.slice(at, at + most))));
  return results;
}
