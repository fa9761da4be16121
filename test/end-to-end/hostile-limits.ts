/** One round. */
export const ONCE = ['--retry-for', '0'] as const;
/** Longer than a test may take: what waits for it to pass fails. */
export const PATIENT = ['--timeout', '30s'] as const;
/** What the system takes off a sender's hands before anybody reads: its buffers on both sides. */
export const BUFFERS_BYTES = 12 * 1024 * 1024;
/** A command that sends takes some 90 MB. */
export const MEMORY_MB = 180;
