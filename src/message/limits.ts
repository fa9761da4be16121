/** Maximum UTF-8 bytes of a caller's message as JSON (contract, Batching client: 32 KB a call). */
export const MAX_MESSAGE_BYTES = 32_768;
/** Maximum UTF-8 bytes of the body of a batch request that we send. */
export const MAX_BATCH_BYTES_SENT = 500_000;
/** Maximum UTF-8 bytes of the body of a batch request that we accept: some clients count 1 KB as 1,024 bytes. */
export const MAX_BATCH_BYTES_ACCEPTED = 512_000;

/** Maximum nesting of objects and arrays. JSON.stringify runs out of stack at about 4,000. */
export const MAX_DEPTH = 512;

/**
 * Formats a count with commas between the thousands. The first call of toLocaleString would add 19 ms to the start of a
 * command.
 */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
