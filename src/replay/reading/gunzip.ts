import { createGunzip, type Gunzip } from 'node:zlib';

/** Compressed bytes to unpack at a time. They expand to about 8 MiB at most, so a gzip bomb cannot exhaust the memory. */
const PIECE_BYTES = 8 * 1024;

const MAGIC = [0x1f, 0x8b];

/**
 * Unpacks the chunks if they begin like gzip; otherwise yields their bytes unchanged. Throws if the gzip data is corrupt or
 * cut off, after yielding everything before the problem. If the data is corrupt, `again` reopens the input, to unpack it up
 * to the exact byte of the problem. Without `again` (a pipe), a second stream that stays one piece behind does this.
 */
export async function* gunzipIfPacked(
  chunks: AsyncIterable<Uint8Array>,
  again?: () => AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  const all = startingWith(MAGIC.length, chunks);
  try {
    const first = await all.next();
    if (first.done) return;
    const rest = concatenated(first.value, all);
    if (MAGIC.every((byte, index) => first.value[index] === byte)) yield* gunzip(rest, again);
    else yield* rest;
  } finally {
    // Closes `all` explicitly, because it stays open if the consumer stops at the first chunk.
    await all.return(undefined);
  }
}

/** Yields the chunks. Joins the first ones so that the first has at least `bytes` bytes, unless the input is shorter. */
async function* startingWith(bytes: number, chunks: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let head: Buffer | undefined = Buffer.alloc(0);
  for await (const chunk of chunks) {
    const buffer = Buffer.from(chunk.buffer, chunk.byteOffset, chunk.length);
    if (head === undefined) {
      yield buffer;
      continue;
    }
    head = head.length === 0 ? buffer : Buffer.concat([head, buffer]);
    if (head.length < bytes) continue;
    yield head;
    head = undefined;
  }
  if (head !== undefined && head.length > 0) yield head;
}

async function* concatenated(first: Buffer, rest: AsyncIterable<Buffer>): AsyncGenerator<Buffer> {
  yield first;
  yield* rest;
}

/**
 * Unpacks piece by piece, to yield everything before a problem: a stream that fails drops its buffered output, such as the
 * last 12 KB before the problem in a 190 KB file. Reads concatenated gzip files (`cat a.gz b.gz`) as one.
 */
async function* gunzip(
  chunks: AsyncIterable<Buffer>,
  again?: () => AsyncIterable<Uint8Array>,
): AsyncGenerator<Buffer> {
  const stream = new PiecewiseGunzip();
  // Keeps a second stream one piece behind the first, to unpack the piece with the problem byte by byte: zlib cannot go
  // back to the start of that piece, and a pipe cannot be read again.
  const behind = again === undefined ? new PiecewiseGunzip() : undefined;
  let soundBytes = 0;
  let last: Uint8Array = Buffer.alloc(0);
  try {
    for await (const chunk of chunks) {
      for (const piece of pieces(chunk, PIECE_BYTES)) {
        last = piece;
        yield* await stream.unpack(piece);
        await behind?.unpack(piece);
        soundBytes += piece.length;
      }
    }
    yield* await stream.end();
  } catch (problem) {
    if (isCorrupt(problem) && behind !== undefined) yield* byteByByte(last, behind);
    if (isCorrupt(problem) && again !== undefined) yield* upToProblem(again(), soundBytes);
    throw problem;
  } finally {
    stream.close();
    behind?.close();
  }
}

/**
 * Unpacks the input a second time. Skips the output of its first `soundBytes` compressed bytes, yields the rest up to the
 * problem, and throws there.
 */
async function* upToProblem(chunks: AsyncIterable<Uint8Array>, soundBytes: number): AsyncGenerator<Buffer> {
  const stream = new PiecewiseGunzip();
  let toSkip = soundBytes;
  try {
    for await (const chunk of chunks) {
      const skipped = chunk.subarray(0, toSkip);
      toSkip -= skipped.length;
      for (const piece of pieces(skipped, PIECE_BYTES)) await stream.unpack(piece);
      yield* byteByByte(chunk.subarray(skipped.length), stream);
    }
  } finally {
    stream.close();
  }
}

/** Unpacks byte by byte, because zlib discards all output of a piece in which it finds a problem. */
async function* byteByByte(bytes: Uint8Array, stream: PiecewiseGunzip): AsyncGenerator<Buffer> {
  for (const byte of pieces(bytes, 1)) yield* await stream.unpack(byte);
}

function* pieces(chunk: Uint8Array, bytes: number): Generator<Uint8Array> {
  for (let at = 0; at < chunk.length; at += bytes) yield chunk.subarray(at, at + bytes);
}

function isCorrupt(problem: unknown): boolean {
  return problem instanceof Error && 'code' in problem && problem.code === 'Z_DATA_ERROR';
}

class PiecewiseGunzip {
  readonly #gunzip: Gunzip = createGunzip({ chunkSize: 64 * 1024 });
  readonly #unpacked: Buffer[] = [];
  #reject: (problem: Error) => void = () => undefined;

  constructor() {
    this.#gunzip.on('data', (chunk: Buffer) => this.#unpacked.push(chunk));
    this.#gunzip.on('error', (problem) => this.#reject(problem));
  }

  unpack(piece: Uint8Array): Promise<Buffer[]> {
    return this.#after((done) => this.#gunzip.write(piece, done));
  }

  /**
   * Ends the stream after `unpack` has written the last piece. If the gzip data is cut off, zlib discards the output of a
   * piece that is passed to its own `end()`.
   */
  end(): Promise<Buffer[]> {
    return this.#after((done) => this.#gunzip.once('end', () => done()).end());
  }

  close(): void {
    this.#gunzip.destroy();
  }

  async #after(step: (done: (problem?: Error | null) => void) => void): Promise<Buffer[]> {
    await new Promise<void>((resolve, reject) => {
      this.#reject = reject;
      // Ignores the problem here, because zlib also emits it as an `error` event, which rejects the promise.
      step((problem) => (problem ? undefined : resolve()));
    });
    return this.#unpacked.splice(0);
  }
}
