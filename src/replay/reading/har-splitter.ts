import { HarReader } from '../../capture/import/har-reader.ts';
import type { Imported } from '../../capture/import/imported.ts';
import { toCapture } from '../../capture/to-capture.ts';
import type { Splitter } from '../../message/json/splitter.ts';
import type { EntryCollector } from './entry-collector.ts';

/** Reads the requests with a body in a HAR file as captures. */
export class HarSplitter implements Splitter {
  readonly #collector: EntryCollector;
  readonly #reader: HarReader;

  constructor(collector: EntryCollector) {
    this.#collector = collector;
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
    if (problem === undefined) return;
    this.#collector.broken(this.line, problem, 'export it again; the requests before are read');
  }

  #add(found: Imported, line: number): void {
    if (found.kind === 'request') {
      this.#collector.found(Buffer.from(JSON.stringify(toCapture(found.request))), line);
    } else if (found.kind === 'rejected') {
      const { what, reason } = found;
      this.#collector.broken(line, `${what}: ${reason}`, 'record it again; the other requests are read');
    }
  }
}
