/**
 * Batches the calls of one turn of the event loop, up to `most` per batch, because a round trip takes longer than most
 * calls. If the result of a call is an error, only that call rejects; if `act` rejects, all calls of the batch reject.
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
    const result = (await turn.results)[index] as R | Error; // one result per call
    if (result instanceof Error) throw result;
    return result;
  };
}

export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
