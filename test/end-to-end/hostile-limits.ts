/** Limits a delivery to one round. */
export const ONCE = ['--retry-for', '0'] as const;
/** A timeout longer than a test may take, so that a test that waits for it fails. */
export const PATIENT = ['--timeout', '30s'] as const;
/** Bytes that the socket buffers of both sides accept before the program reads any. */
export const BUFFERS_BYTES = 12 * 1024 * 1024;
/** Limit for a command that sends, which takes about 90 MB. */
export const MEMORY_MB = 180;
