import { pathToFileURL } from 'node:url';
import { escapeInJson } from '../redact.ts';
import { openReplacing } from './replacing-file.ts';
import type { Report, ReportedResult } from './report.ts';

const HEAD = `{"$schema":"https://json.schemastore.org/sarif-2.1.0.json","version":"2.1.0","runs":[{"tool":{"driver":{"name":"hooks"}},"results":[`;

/** Opens a SARIF 2.1.0 report for code scanning, with a result for each violation. Passed messages are left out. */
export async function openSarifReport(target: string, name: string): Promise<Report> {
  const replacing = await openReplacing(target, name);
  await replacing.file.add(Buffer.from(HEAD));
  let separator = '\n';
  return {
    add: (result) => {
      if (result.outcome === 'valid') return undefined;
      const bytes = Buffer.from(separator + escapeInJson(JSON.stringify(sarifResult(result))));
      separator = ',\n';
      return replacing.file.add(bytes);
    },
    finish: () => replacing.commit(async (file) => file.add(Buffer.from('\n]}]}\n'))),
    abandon: replacing.abandon,
  };
}

function sarifResult({ name, origin, error = 'other', reason = '' }: ReportedResult): object {
  const { file, line } = origin;
  const uri = file.startsWith('/') ? pathToFileURL(file).href : encodeURI(file);
  return {
    ruleId: error,
    level: 'error',
    message: { text: `${name}: ${reason}` },
    locations: [{ physicalLocation: { artifactLocation: { uri }, region: { startLine: line } } }],
  };
}
