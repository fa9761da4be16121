import type { Socket } from 'node:net';
import { CUT_RESPONSE, malformedResponse } from '../network-error.ts';

/** The most bytes of a response besides its body: status line, reason phrase, headers, interim responses, chunk sizes and their extensions. */
const MAX_OVERHEAD_BYTES = 64 * 1024;
const TOO_LONG = malformedResponse('the response has more than 64 KiB besides its body');
const BARE_CR = malformedResponse('the response has a carriage return that no line feed follows');

const WRONG_VERSION = malformedResponse('the response is not one of HTTP/1');

const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const SLASH = 0x2f;
const DIGIT_ONE = 0x31;

/**
 * Sees the bytes of a connection before undici's parser does, which limits neither reason phrases nor chunk extensions nor the number of
 * interim responses, takes `HTTP/2.0 200` for a status line of its own, and CR CR for the end of a status line (RFC 9112, 2.2 forbids a bare CR). One for each connection.
 */
export class ResponseGuard {
  readonly #bodyBytes: () => number;
  #bytes = 0;
  #awaitsFinalStatus = false;
  #cutsResponse = false;
  #previous = 0;
  #isLineEmpty = true;
  /** The first digit of the status of the present head, as a byte; 0 until it comes. */
  #statusDigit = 0;

  /** @param bodyBytes how much of the body of the present response has been parsed */
  constructor(bodyBytes: () => number) {
    this.#bodyBytes = bodyBytes;
  }

  /** A request is about to be sent. `cutsResponse`: no byte of its response is let through. */
  begin(cutsResponse = false): void {
    this.#cutsResponse = cutsResponse;
    this.#bytes = 0;
    this.#awaitsFinalStatus = true;
    this.#previous = 0;
    this.#isLineEmpty = true;
    this.#statusDigit = 0;
  }

  /** Destroys the socket when undici would read what the guard does not let through. */
  watch(socket: Socket): void {
    const read = socket.read.bind(socket) as (size?: number) => Buffer | null; // It has no encoding, so it gives no text.
    socket.read = (size) => {
      const chunk = read(size);
      const failure = chunk === null ? undefined : this.#failureOf(chunk);
      if (failure === undefined) return chunk;
      socket.destroy(failure);
      return null;
    };
  }

  /** Counts before it adds: undici has parsed all that it read before, so that only then it is known what of it was body. */
  #failureOf(chunk: Buffer): Error | undefined {
    if (this.#cutsResponse) return CUT_RESPONSE;
    if (this.#bytes - this.#bodyBytes() > MAX_OVERHEAD_BYTES) return TOO_LONG;
    this.#bytes += chunk.length;
    return this.#awaitsFinalStatus ? this.#failureInHead(chunk) : undefined;
  }

  /** Looks at no more than it has to: any other bare CR, and those behind the final status line, undici rejects by itself. */
  #failureInHead(chunk: Buffer): Error | undefined {
    for (let at = 0; at < chunk.length && this.#awaitsFinalStatus; at++) {
      const byte = chunk[at] ?? 0;
      if (byte === CR && this.#previous === CR) return BARE_CR;
      if (this.#previous === SLASH && this.#statusDigit === 0 && byte !== DIGIT_ONE) return WRONG_VERSION;
      if (byte === LF) this.#endLine();
      else if (byte !== CR) this.#addToLine(byte);
      this.#previous = byte;
    }
    return undefined;
  }

  /** The head of an interim response goes on to an empty line, and another head follows. */
  #endLine(): void {
    if (this.#statusDigit !== 0 && this.#statusDigit !== DIGIT_ONE) this.#awaitsFinalStatus = false;
    else if (this.#isLineEmpty) this.#statusDigit = 0;
    this.#isLineEmpty = true;
  }

  #addToLine(byte: number): void {
    if (this.#statusDigit === 0 && this.#previous === SPACE) this.#statusDigit = byte;
    this.#isLineEmpty = false;
  }
}
