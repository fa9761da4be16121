/**
 * Calls back. What that throws becomes an uncaught exception of its own, in a microtask: it is the program's to know of,
 * and must not break off the work in whose midst it is called, where that process lives on.
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
