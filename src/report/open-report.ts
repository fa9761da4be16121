import { extname } from 'node:path';
import { ConfigError } from '../errors.ts';
import { printable } from '../redact.ts';
import { openJsonReport } from './json-report.ts';
import { openJunitReport } from './junit-report.ts';
import type { Report } from './report.ts';

/** The formats of `--report`: JUnit XML or JSON. */
export type ReportFormat = '.xml' | '.json';

/**
 * Opens the file of `--report`, JUnit XML or JSON by its extension. Throws ConfigError for another extension, InputError
 * when it cannot be written: before anything is sent. `name` is the file's name in errors.
 */
export async function openReport(target: string, name = target): Promise<Report> {
  return reportFormat(target, name) === '.xml' ? openJunitReport(target, name) : openJsonReport(target, name);
}

/** The format by the extension. Throws ConfigError for another one. */
export function reportFormat(target: string, name = target): ReportFormat {
  const format = extname(target).toLowerCase();
  if (format === '.xml' || format === '.json') return format;
  throw new ConfigError(`Expected \`--report\` to end in .xml or .json, got ${printable(name, 200)}`, {
    key: 'report',
    origin: '--report',
    hint: 'name it FILE.xml for JUnit, FILE.json for JSON',
  });
}
