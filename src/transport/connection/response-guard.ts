import type { Socket } from 'node:net';
import { CUT_RESPONSE, malformedResponse } from '../network-error.ts';

/** Maximum number of bytes besides the body: status line, headers, interim responses, chunk sizes and extensions. */
const MAX_OVERHEAD_BYTES = 64 * 1024;
const TOO_LONG = 'the response has more than 64 KiB besides its body';
const BARE_CR = 'the response has a carriage return that no line feed follows';
const WRONG_VERSION = 'the response is not one of HTTP/1';

const CR = 0x0d;
const LF = 0x0a;
const SPACE = 0x20;
const SLASH = 0x2f;
const DIGIT_ONE = 0x31;

/**
 * Inspects the bytes of a connection before undici's parser does, because that parser is too lenient: it does not limit
 * reason phrases, chunk extensions and interim responses, and accepts `HTTP/2.0 200` as a status line and CR CR as its end
 * (RFC 9112, 2.2 forbids a bare CR). Each connection has its own guard.
 */
export class ResponseGuard {
  readonly #bodyBytes: () => number;
  #bytes = 0;
  #awaitsFinalStatus = false;
  #cutsResponse = false;
  #previous = 0;
  #isLineEmpty = true;
  /** The first digit of the status of the current response head, as a byte; 0 before it is received. */
  #statusDigit = 0;

  /** @param bodyBytes Returns the bytes of the current response's body that are parsed. */
  constructor(bodyBytes: () => number) {
    this.#bodyBytes = bodyBytes;
  }

  /** Prepares for the response to a new request. With `cutsResponse`, the guard rejects the response at its first byte. */
  begin(cutsResponse = false): void {
    this.#cutsResponse = cutsResponse;
    this.#bytes = 0;
    this.#awaitsFinalStatus = true;
    this.#previous = 0;
    this.#isLineEmpty = true;
    this.#statusDigit = 0;
  }

  /** Wraps `read` of a socket: bytes that the guard rejects destroy the socket, instead of reaching undici. */
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

  /**
   * Returns why the chunk must not reach undici. Checks the size before adding the chunk, because how many bytes belong to
   * the body is known only for the chunks that undici has parsed.
   */
  #failureOf(chunk: Buffer): Error | undefined {
    if (this.#cutsResponse) return CUT_RESPONSE;
    if (this.#bytes - this.#bodyBytes() > MAX_OVERHEAD_BYTES) return malformedResponse(TOO_LONG);
    this.#bytes += chunk.length;
    return this.#awaitsFinalStatus ? this.#failureInHead(chunk) : undefined;
  }

  /** Inspects the bytes only up to the end of the final status line, because undici itself rejects a bare CR after it. */
  #failureInHead(chunk: Buffer): Error | undefined {
    for (let at = 0; at < chunk.length && this.#awaitsFinalStatus; at++) {
      const byte = chunk[at] ?? 0;
      if (byte === CR && this.#previous === CR) return malformedResponse(BARE_CR);
      if (this.#previous === SLASH && this.#statusDigit === 0 && byte !== DIGIT_ONE) {
        return malformedResponse(WRONG_VERSION);
      }
      if (byte === LF) this.#endLine();
      else if (byte !== CR) this.#addToLine(byte);
      this.#previous = byte;
    }
    return undefined;
  }

  /** Handles the end of a line. An empty line ends the head of an interim response, and another head follows. */
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
