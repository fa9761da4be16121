import { JSONParser } from '@streamparser/json';
import { isJsonArray, isJsonObject, type JsonValue } from '../../message/types.ts';
import type { Imported } from './imported.ts';
import { requestsIn } from './request-object.ts';

const LF = 0x0a;

/** Reads a HAR file of any size. Only one entry of it, a request and its response, is in memory. */
export class HarReader {
  readonly #parser = new JSONParser({
    paths: ['$.log.creator', '$.log.entries.*'],
    keepStack: false,
    stringBufferSize: 64 * 1024,
  });
  /** Line that was read last, counted from 1. */
  line = 1;
  #isFromChrome = false;
  #hasEntries = false;
  #hasSecrets = false;
  /** Why the file cannot be read further. */
  #problem: string | undefined;

  /** @param onFound Called for each request, with the line in which its entry ends. */
  constructor(onFound: (found: Imported, line: number) => void) {
    this.#parser.onValue = ({ value: parsed, key }) => {
      const value = parsed as JsonValue; // The types of the parser have `undefined` and its own names for the values of JSON.
      if (key === 'creator') this.#isFromChrome = isJsonObject(value) && value['name'] === 'WebInspector';
      else {
        this.#hasEntries = true;
        this.#hasSecrets ||= hasSecretHeader(value);
        for (const found of requestsIn(value)) onFound(found, this.line);
      }
    };
    this.#parser.onError = ({ message }) => (this.#problem ??= message);
  }

  /** Whether Chrome wrote the file without the headers that hold secrets, as it does unless asked for them. */
  get isSanitized(): boolean {
    return this.#isFromChrome && this.#hasEntries && !this.#hasSecrets;
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

/** Whether the request of an entry has a header with a secret of a browser. */
function hasSecretHeader(entry: JsonValue): boolean {
  const request = isJsonObject(entry) ? entry['request'] : undefined;
  const headers = isJsonObject(request) ? request['headers'] : undefined;
  return (
    isJsonArray(headers) &&
    headers.some((each) => {
      const name = isJsonObject(each) ? each['name'] : undefined;
      return typeof name === 'string' && /^(?:cookie|authorization)$/i.test(name);
    })
  );
}
