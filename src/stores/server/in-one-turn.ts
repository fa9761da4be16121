/**
 * Batches at most `most` calls of one turn of the event loop, to save round trips. `act` returns one result per call. If a
 * result is an error, only that call rejects; if `act` rejects, all calls of the batch reject.
 */
export function inOneTurn<T, R>(
  most: number,
  act: (all: readonly T[]) => Promise<readonly (R | Error)[]>,
): (one: T) => Promise<R> {
  let calls: T[] = [];
  let results: Promise<readonly (R | Error)[]> | undefined;
  return async (one) => {
    if (results === undefined || calls.length === most) {
      const batch: T[] = [];
      calls = batch;
      results = new Promise<void>((resolve) => setImmediate(resolve)).then(() => {
        if (calls === batch) results = undefined;
        return act(batch);
      });
    }
    const index = calls.push(one) - 1;
    const result = (await results)[index] as R | Error; // one result per call
    if (result instanceof Error) throw result;
    return result;
  };
}

export function toError(thrown: unknown): Error {
  return thrown instanceof Error ? thrown : new Error(String(thrown));
}
