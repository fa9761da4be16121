/** The bytes searched for the key, including white space around its colon. */
const TAIL = 64;

/**
 * Whether these bytes are an object up to the value of its key `batch`, and that object is not a message: a message
 * has a `type`, and may have a field named `batch` as any other.
 */
export function endsInBatchKey(start: Buffer): boolean {
  if (!/"batch"\s*:\s*$/.test(start.subarray(-TAIL).toString('latin1'))) return false;
  const object = parseJsonOrUndefined(Buffer.concat([start, Buffer.from('[]}')]));
  return isBatchDocument(object);
}

/** Whether a value is `{"batch":[…], …}`, which clients of the tracking API send. */
export function isBatchDocument(value: unknown): boolean {
  const isObject = typeof value === 'object' && value !== null;
  return isObject && 'batch' in value && Array.isArray(value.batch) && !('type' in value);
}

/** The value, or undefined when it is not JSON. */
export function parseJsonOrUndefined(bytes: Buffer): unknown {
  try {
    return JSON.parse(bytes.toString());
  } catch {
    return undefined;
  }
}
