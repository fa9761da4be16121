/** Like `new Promise`, but throws what `start` throws: the promise itself never rejects. */
export function promiseOrThrow<T>(start: (resolve: (value: T) => void) => void): Promise<T> {
  let settle: ((value: T) => void) | undefined;
  const promise = new Promise<T>((resolve) => {
    settle = resolve;
  });
  // The constructor of a promise has called back by now.
  start((value) => settle?.(value));
  return promise;
}
