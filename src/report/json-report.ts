import { openReplacing, type ReplacingFile } from './replacing-file.ts';
import type { Report, ReportedResult, ReportedSummary } from './report.ts';

/** Opens a report of one JSON object, `{"results":[…],"summary":{…}}`, with a line for each result. */
export async function openJsonReport(target: string, name = target): Promise<Report> {
  const replacing = await openReplacing(target, name);
  await replacing.file.add(Buffer.from('{"results":['));
  return new JsonReport(replacing);
}

class JsonReport implements Report {
  readonly #replacing: ReplacingFile;
  #separator = '\n';

  constructor(replacing: ReplacingFile) {
    this.#replacing = replacing;
  }

  add({ origin, ...result }: ReportedResult): Promise<void> | undefined {
    const line = JSON.stringify({ ...result, origin: `${origin.file}:${origin.line}` });
    const separator = this.#separator;
    this.#separator = ',\n';
    return this.#replacing.file.add(Buffer.from(separator + line));
  }

  async finish(summary: ReportedSummary): Promise<void> {
    const end = Buffer.from(`\n],"summary":${JSON.stringify(summary)}}\n`);
    await this.#replacing.commit(async (file) => file.add(end));
  }

  abandon(): Promise<void> {
    return this.#replacing.abandon();
  }
}
