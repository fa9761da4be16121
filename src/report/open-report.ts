import { extname } from 'node:path';
import { ConfigError } from '../errors.ts';
import { escapeInJson, printable } from '../redact.ts';
import { openJunitReport } from './junit-report.ts';
import { openReplacing } from './replacing-file.ts';
import type { Report } from './report.ts';

/** The formats of `--report`: JUnit XML or JSON. */
export type ReportFormat = '.xml' | '.json';

/**
 * Opens the file of `--report`, JUnit XML or JSON by its extension, before anything is sent. Throws ConfigError for another
 * extension, InputError if the file cannot be written. `name` is the file's name in errors.
 */
export async function openReport(target: string, name = target): Promise<Report> {
  return reportFormat(target, name) === '.xml' ? openJunitReport(target, name) : openJsonReport(target, name);
}

/** The format of a report by its extension. Throws ConfigError for another extension. */
export function reportFormat(target: string, name: string): ReportFormat {
  const format = extname(target).toLowerCase();
  if (format === '.xml' || format === '.json') return format;
  throw new ConfigError(`Expected \`--report\` to end in .xml or .json, got ${printable(name, 200)}`, {
    key: 'report',
    origin: '--report',
    hint: 'name it FILE.xml for JUnit, FILE.json for JSON',
  });
}

/** Opens a report of one JSON object, `{"results":[…],"summary":{…}}`, with one line per result. */
async function openJsonReport(target: string, name: string): Promise<Report> {
  const replacing = await openReplacing(target, name);
  await replacing.file.add(Buffer.from('{"results":['));
  let separator = '\n';
  return {
    add: ({ origin, ...result }) => {
      const line = escapeInJson(JSON.stringify({ ...result, origin: `${origin.file}:${origin.line}` }));
      const bytes = Buffer.from(separator + line);
      separator = ',\n';
      return replacing.file.add(bytes);
    },
    finish: (summary) => {
      const end = Buffer.from(`\n],"summary":${JSON.stringify(summary)}}\n`);
      return replacing.commit(async (file) => file.add(end));
    },
    abandon: replacing.abandon,
  };
}
