/**
 * Does together what is asked for in one turn of the event loop, up to `most` in one call: a round trip takes longer than most of it.
 * A result that is an error is thrown to who asked for it, and what `act` rejects with to all.
 */
export function inOneTurn<T, R>(
  most: number,
  act: (all: readonly T[]) => Promise<readonly (R | Error)[]>,
): (one: T) => Promise<R> {
  let turn: { readonly all: T[]; readonly results: Promise<readonly (R | Error)[]> } | undefined;
  const begin = (): NonNullable<typeof turn> => {
    const all: T[] = [];
    const results = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
      if (turn?.all === all) turn = undefined;
      return act(all);
    });
    return { all, results };
  };
  return async (one) => {
    if (turn === undefined || turn.all.length === most) turn = begin();
    const index = turn.all.push(one) - 1;
    const result = (await turn.results)[index] as R | Error; // one each
    if (result instanceof Error) throw result;
    return result;
  };
}

export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
