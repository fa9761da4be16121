/** UTF-8 bytes of a caller's message as JSON (contract, Batching client: 32 KB a call). */
export const MAX_MESSAGE_BYTES = 32_768;
/** UTF-8 bytes of a batch request's body that we send at most. */
export const MAX_BATCH_BYTES_SENT = 500_000;
/** UTF-8 bytes of a batch request's body that we accept at most: some count 500 KB in units of 1,024. */
export const MAX_BATCH_BYTES_ACCEPTED = 512_000;

/** Objects and arrays inside one another. JSON.stringify runs out of stack at about 4,000. */
export const MAX_DEPTH = 512;

/** A count with its thousands separated by commas. Not by toLocaleString, whose first call takes 19 ms of a command's start. */
export function formatCount(count: number): string {
  return String(count).replace(/\B(?=(?:\d{3})+$)/g, ',');
}
