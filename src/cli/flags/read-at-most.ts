import type { Readable } from 'node:stream';

/** Reads all bytes of a stream; undefined as soon as they are more than the limit, and then the rest is not read. */
export async function readAtMost(limitBytes: number, stream: Readable): Promise<Buffer | undefined> {
  const chunks: Buffer[] = [];
  let bytes = 0;
  for await (const chunk of stream) {
    const data = chunk as Buffer; // no encoding is set
    chunks.push(data);
    bytes += data.length;
    if (bytes > limitBytes) return undefined;
  }
  return Buffer.concat(chunks);
}
