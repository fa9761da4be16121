import { extname } from 'node:path';
import { ConfigError } from '../errors.ts';
import { escapeInJson, printable } from '../redact.ts';
import { openJunitReport } from './junit-report.ts';
import { openReplacing } from './replacing-file.ts';
import { openSarifReport } from './sarif-report.ts';
import { originText, type Report } from './report.ts';

interface ReportOptions {
  /** Name of the file in errors. @default the path */
  readonly name?: string;
  /** Name of the JUnit test suite. @default 'hooks replay' */
  readonly suite?: string;
  /** The formats by their extensions. @default ['.xml', '.json'] */
  readonly formats?: readonly ReportFormat[];
}

/** The formats of `--report`: JUnit XML, JSON or SARIF (for code scanning). */
export type ReportFormat = '.xml' | '.json' | '.sarif';

/**
 * Opens the file of `--report` by its extension, before anything is sent or read. Throws ConfigError for another extension,
 * InputError if the file cannot be written.
 */
export async function openReport(target: string, options: ReportOptions = {}): Promise<Report> {
  const { name = target, suite = 'hooks replay', formats } = options;
  const format = reportFormat(target, name, formats);
  if (format === '.xml') return openJunitReport(target, { name, suite });
  return format === '.sarif' ? openSarifReport(target, name) : openJsonReport(target, name);
}

const FORMAT_NAMES = { '.xml': 'JUnit', '.json': 'JSON', '.sarif': 'SARIF' } as const;

/** The format of a report by its extension. Throws ConfigError for another extension. */
export function reportFormat(
  target: string,
  name: string,
  formats: readonly ReportFormat[] = ['.xml', '.json'],
): ReportFormat {
  const found = formats.find((format) => format === extname(target).toLowerCase());
  if (found !== undefined) return found;
  throw new ConfigError(
    `Expected \`--report\` to end in ${formats.join(' or ')}, got ${printable(name, 200)}`,
    {
      key: 'report',
      origin: '--report',
      hint: `name it ${formats.map((format) => `FILE${format} for ${FORMAT_NAMES[format]}`).join(', ')}`,
    },
  );
}

/** Opens a report of one JSON object, `{"results":[…],"summary":{…}}`, with one line per result. */
async function openJsonReport(target: string, name: string): Promise<Report> {
  const replacing = await openReplacing(target, name);
  await replacing.file.add(Buffer.from('{"results":['));
  let separator = '\n';
  return {
    add: ({ origin, ...result }) => {
      const line = escapeInJson(JSON.stringify({ ...result, origin: originText(origin) }));
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
