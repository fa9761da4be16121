import { readFileSync } from 'node:fs';
import { format, resolveConfig } from 'prettier';
import { defaultText, fieldOf, KEYS, type Key } from '../../src/config/table/fields.ts';

const PAGE = new URL('../../docs/configuration.md', import.meta.url).pathname;
const BETWEEN_MARKS = /(?<=<!-- settings: .*? -->\n).*(?=<!-- end of settings -->)/s;

/** docs/configuration.md with the table of settings as it must be now; the text around the table is written by hand. */
export async function configurationPage(): Promise<string> {
  const page = readFileSync(PAGE, 'utf8');
  if (!BETWEEN_MARKS.test(page)) throw new Error(`${PAGE} has no marks around its table of settings`);
  const text = page.replace(BETWEEN_MARKS, () => `\n${settingsTable()}\n\n`);
  return format(text, { ...(await resolveConfig(PAGE)), parser: 'markdown' });
}

/** The settings that a config file cannot hold. */
const OUTSIDE_A_FILE = [
  "| | the config file, instead of the project's and the user's | | `--config`, `--no-config` | `HOOKS_CONFIG` |",
  '| | the folder of what is kept between runs | the data folder of the user | | `HOOKS_DATA_DIR` |',
];

/** A table of all settings, as markdown. */
export function settingsTable(): string {
  const head = ['| Setting | What it is | Default | Flag | Variable |', '| --- | --- | --- | --- | --- |'];
  return [...head, ...KEYS.map(row), ...OUTSIDE_A_FILE].join('\n');
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
