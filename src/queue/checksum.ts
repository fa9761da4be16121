import { crc32 } from 'node:zlib';

/** The stored fields that a checksum covers. */
export interface Checked {
  readonly body: Uint8Array;
  readonly messageId: string;
  /** JSON: [string] */
  readonly orderKeys: string;
}

/**
 * CRC-32 of what is sent, and of the order keys, whose change would hold others back. It finds any single flipped bit and
 * any run of up to 32 damaged ones. Of 300 bytes it takes 0.4 µs where SHA-1 takes 4.8 (of 32 KB: 10 and 24); against
 * an attacker who can write to the store neither would help.
 */
export function checksumOf({ body, messageId, orderKeys }: Checked): number {
  return crc32(body, crc32(storedText(orderKeys + messageId)));
}

/** Some drivers read a text no further than its first NUL. JSON has none. */
function storedText(text: string): string {
  const end = text.indexOf('\0');
  return end === -1 ? text : text.slice(0, end);
}
