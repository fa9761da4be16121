import { JSONParser } from '@streamparser/json';
import type { JsonValue } from '../../message/types.ts';
import type { Imported } from './imported.ts';
import { requestsIn } from './request-object.ts';

const LF = 0x0a;

/** Reads a HAR file of any size. Only one entry of it, a request and its response, is in memory. */
export class HarReader {
  readonly #parser = new JSONParser({
    paths: ['$.log.entries.*'],
    keepStack: false,
    stringBufferSize: 64 * 1024,
  });
  /** Line that was read last, counted from 1. */
  line = 1;
  /** Why the file cannot be read further. */
  #problem: string | undefined;

  /** @param onFound Called for each request, with the line in which its entry ends. */
  constructor(onFound: (found: Imported, line: number) => void) {
    this.#parser.onValue = ({ value }) => {
      // The types of the parser have `undefined` and its own names for the values of JSON.
      for (const found of requestsIn(value as JsonValue)) onFound(found, this.line);
    };
    this.#parser.onError = ({ message }) => (this.#problem ??= message);
  }

  /** Reads a part of the file, line by line, so that the line of each request is known. */
  push(chunk: Uint8Array): void {
    let start = 0;
    while (start < chunk.length && this.#problem === undefined && !this.#parser.isEnded) {
      const lineEnd = chunk.indexOf(LF, start);
      const end = lineEnd === -1 ? chunk.length : lineEnd + 1;
      this.#parser.write(chunk.subarray(start, end));
      if (lineEnd !== -1) this.line++;
      start = end;
    }
  }

  /** Returns why the end of the file was not reached; undefined if the file is complete. */
  end(): string | undefined {
    if (this.#problem !== undefined) return `the file is not JSON from here on: ${this.#problem}`;
    return this.#parser.isEnded ? undefined : 'the file is cut off here';
  }
}
