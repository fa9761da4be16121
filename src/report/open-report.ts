import { extname } from 'node:path';
import { ConfigError } from '../errors.ts';
import { printable } from '../redact.ts';
import { openJsonReport } from './json.ts';
import { openJunitReport } from './junit.ts';
import type { Report } from './result.ts';

const FORMATS: Readonly<Record<string, (target: string, name: string) => Promise<Report>>> = {
  '.xml': openJunitReport,
  '.json': openJsonReport,
};

/**
 * Opens the file of `--report`, JUnit XML or JSON by its extension. Throws ConfigError for another extension, InputError
 * when it cannot be written: before anything is sent. `name` is the file as errors show it.
 */
export async function openReport(target: string, name = target): Promise<Report> {
  const open = FORMATS[extname(target).toLowerCase()];
  if (open !== undefined) return open(target, name);
  throw new ConfigError(`Expected \`--report\` to end in .xml or .json, got ${printable(name, 200)}`, {
    key: 'report',
    origin: '--report',
    hint: 'name it FILE.xml for JUnit, FILE.json for JSON',
  });
}
