import { readFileSync } from 'node:fs';
import { fileURLToPath } from 'node:url';
import { format, resolveConfig } from 'prettier';
import { WAYS, WHERE_TO_ROWS, type WhereToRow } from '../../src/cli/flags/delivery/where-to-flags.ts';
import { defaultText, fieldOf, KEYS, type Key } from '../../src/config/table/fields.ts';

const PAGE = fileURLToPath(new URL('../../docs/configuration.md', import.meta.url));
const BETWEEN_MARKS = /(?<=<!-- settings: .*? -->\n).*(?=<!-- end of settings -->)/s;

const BETWEEN_FLAG_MARKS = /(?<=<!-- flags: .*? -->\n).*(?=<!-- end of flags -->)/s;

/** Returns docs/configuration.md with current tables. The text around the tables is written by hand. */
export async function configurationPage(): Promise<string> {
  const page = readFileSync(PAGE, 'utf8');
  if (!BETWEEN_MARKS.test(page) || !BETWEEN_FLAG_MARKS.test(page)) {
    throw new Error(`${PAGE} has no marks around its tables`);
  }
  const text = page
    .replace(BETWEEN_MARKS, () => `\n${settingsTable()}\n\n`)
    .replace(BETWEEN_FLAG_MARKS, () => `\n${flagsTable()}\n\n`);
  return format(text, { ...(await resolveConfig(PAGE)), parser: 'markdown' });
}

/** The settings that a config file cannot have. */
const OUTSIDE_A_FILE = [
  "| | the config file, instead of the project's and the user's | | `--config`, `--no-config` | `HOOKS_CONFIG` |",
  '| | the folder of what is kept between runs | the data folder of the user | | `HOOKS_DATA_DIR` |',
];

/** Returns a Markdown table of all settings. */
export function settingsTable(): string {
  const head = ['| Setting | What it is | Default | Flag | Variable |', '| --- | --- | --- | --- | --- |'];
  return [...head, ...KEYS.map(row), ...OUTSIDE_A_FILE].join('\n');
}

/** Returns a Markdown table of the "where to" flags and the ways that use them. */
function flagsTable(): string {
  const head = [
    '| Flag | Webhooks | `--loopback` | Tracking API | `--queue` |',
    '| --- | --- | --- | --- | --- |',
  ];
  const rows = Object.values<WhereToRow>(WHERE_TO_ROWS).map(({ flag, appliesTo, needs }) => {
    const name = needs === undefined ? code(flag) : `${code(flag)} (with ${code(needs)})`;
    return `| ${[name, ...WAYS.map((way) => (appliesTo.includes(way) ? 'yes' : ''))].join(' | ')} |`;
  });
  return [...head, ...rows].join('\n');
}

function row(key: Key): string {
  const { describe, flag, env = [], otherwise = '' } = fieldOf(key);
  const standard = defaultText(key);
  const cells = [
    code(key),
    describe,
    standard === undefined ? otherwise : code(standard),
    flag === undefined ? '' : code(flag.name),
    env.map(code).join(', '),
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
}

function code(text: string): string {
  return `\`${text}\``;
}
