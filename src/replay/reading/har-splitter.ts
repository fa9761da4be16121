import type { HarNotes } from '../../capture/import/har-notes.ts';
import { HarReader } from '../../capture/import/har-reader.ts';
import type { Imported } from '../../capture/import/imported.ts';
import { toCapture } from '../../capture/to-capture.ts';
import type { Splitter } from '../../message/json/splitter.ts';
import type { EntryCollector } from './entry-collector.ts';

/** Splits a HAR file. Each request with a body becomes a capture, or a broken entry if its exact bytes are unknown. */
export class HarSplitter implements Splitter {
  readonly #collector: EntryCollector;
  readonly #reader: HarReader;

  readonly #file: string;
  readonly #notes: HarNotes | undefined;
  #count = 0;

  constructor(file: string, collector: EntryCollector, notes?: HarNotes) {
    this.#file = file;
    this.#collector = collector;
    this.#notes = notes;
    this.#reader = new HarReader((found, line) => this.#add(found, line));
  }

  get line(): number {
    return this.#reader.line;
  }

  push(chunk: Buffer): void {
    this.#reader.push(chunk);
  }

  end(): void {
    const problem = this.#reader.end();
    this.#collector.request = undefined;
    if (this.#reader.isSanitized) this.#notes?.sanitize(this.#file);
    if (problem === undefined) return;
    this.#collector.broken(this.line, problem, 'export it again; the requests before are read');
  }

  #add(found: Imported, line: number): void {
    this.#collector.request = ++this.#count;
    if (found.kind === 'skipped') this.#notes?.skip();
    else if (found.kind === 'request') {
      this.#collector.found(Buffer.from(JSON.stringify(toCapture(found.request))), line);
    } else {
      const { what, reason } = found;
      this.#collector.broken(line, `${what}: ${reason}`, 'record it again; the other requests are read');
    }
  }
}
