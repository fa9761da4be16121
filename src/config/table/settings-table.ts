import { defaultText, fieldOf, type Key, KEYS } from './fields.ts';

/** The settings that a config file cannot hold. */
const OUTSIDE_A_FILE = [
  "| | the config file, instead of the project's and the user's | | `--config`, `--no-config` | `HOOKS_CONFIG` |",
  '| | the folder of what is kept between runs | the data folder of the user | | `HOOKS_DATA_DIR` |',
];

/** The table of docs/configuration.md, as markdown. */
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
    flag === undefined ? '' : code(flag),
    env.map(code).join(', '),
  ];
  return `| ${cells.map((cell) => cell.replaceAll('|', String.raw`\|`)).join(' | ')} |`;
}

function code(text: string): string {
  return `\`${text}\``;
}
