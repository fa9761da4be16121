import type { ListedSetting } from '../../config/list-settings.ts';
import { isObject } from '../../check-options.ts';
import { printable } from '../../redact.ts';
import type { Define, GlobalOptions } from '../command.ts';
import type { Io } from '../io.ts';
import { commandSettings } from '../flags/delivery/settings.ts';
import { jsonLine } from '../json-line.ts';

const EXAMPLES = `Examples:
  $ hooks config
  $ hooks config -c staging.yaml
  $ hooks config -o json | jq 'select(.origin != "default")'
`;

/** Defines a command that prints every setting. Whether they work is a question for `doctor`. */
export const defineConfig: Define = (command, { io }) => {
  command.addHelpText('before', EXAMPLES).action(async () => {
    const options = command.optsWithGlobals<GlobalOptions>();
    const settings = await commandSettings(options, io);
    const rows = settings.list();
    io.out(options.output === 'json' ? ndjson(rows) : table(rows, io));
  });
};

function ndjson(rows: readonly ListedSetting[]): string {
  return rows.map(jsonLine).join('');
}

function table(rows: readonly ListedSetting[], { color }: Io): string {
  const cells = rows.map(({ key, value, origin, unset = [] }) => ({
    key: printable(key),
    value: valueText(value),
    origin: printable(origin) + (unset.length === 0 ? '' : ` (${unset.join(', ')}: not set)`),
  }));
  const keyWidth = Math.max(...cells.map(({ key }) => key.length));
  const valueWidth = Math.max(...cells.map(({ value }) => value.length));
  return cells
    .map(
      ({ key, value, origin }) =>
        `${key.padEnd(keyWidth)}  ${value.padEnd(valueWidth)}  ${origin === 'default' ? color.dim(origin) : origin}\n`,
    )
    .join('');
}

function valueText(value: unknown): string {
  if (value === null) return '-';
  if (Array.isArray(value)) return value.map(valueText).join(', ');
  if (!isObject(value)) return printable(typeof value === 'string' ? value : JSON.stringify(value));
  const { url, headers } = value;
  const names = isObject(headers)
    ? Object.entries(headers).map(([name, text]) => `${name}: ${String(text)}`)
    : [];
  return printable(String(url)) + (names.length === 0 ? '' : ` (${printable(names.join(', '))})`);
}
