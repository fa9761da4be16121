/** Sets an own property, also one called `__proto__`, which an assignment would take for the prototype. */
export function put<T>(target: Record<string, T>, key: string, value: T): void {
  if (key !== '__proto__') target[key] = value;
  else Object.defineProperty(target, key, { value, enumerable: true, configurable: true, writable: true });
}
