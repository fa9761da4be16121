/**
 * Calls a callback so that its failure harms no caller. An error that it throws becomes an uncaught exception in a microtask:
 * the program must learn of it, but it must not interrupt the work that calls back where the process lives on.
 */
export function callDetached<Value>(callback: (value: Value) => void, value: Value): void {
  try {
    callback(value);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}
