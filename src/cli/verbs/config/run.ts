import type { ListedSetting } from '../../../config/list-settings.ts';
import { isObject } from '../../../validate-options.ts';
import { printable } from '../../../redact.ts';
import type { GlobalOptions } from '../../command.ts';
import type { Io } from '../../io.ts';
import { commandSettings } from '../../flags/delivery/settings.ts';
import { jsonLine } from '../../json-line.ts';
import { formatTable, type Cell } from '../../print/table.ts';

/** Runs `hooks config`. */
export async function showSettings(options: GlobalOptions, io: Io): Promise<void> {
  const settings = await commandSettings(options, io);
  const rows = settings.list();
  io.out(options.output === 'json' ? rows.map(jsonLine).join('') : table(rows, io));
}

function table(rows: readonly ListedSetting[], { color, stdoutColumns: columns }: Io): string {
  const cells = rows.map(({ key, value, origin, unset = [] }): readonly Cell[] => {
    const from = printable(origin) + (unset.length === 0 ? '' : ` (${unset.join(', ')}: not set)`);
    return [
      { text: printable(key) },
      { text: valueText(value), shortest: 16 },
      { text: from, shortest: 16, ...(from === 'default' && { paint: color.dim }) },
    ];
  });
  return formatTable(cells, { columns });
}

function valueText(value: unknown): string {
  if (value === null) return '-';
  if (Array.isArray(value)) return value.map(valueText).join(', ');
  if (!isObject(value)) return printable(typeof value === 'string' ? value : JSON.stringify(value));
  const { url, headers } = value;
  // An object without a URL holds signature schemes by name, of which only the names are printed.
  if (typeof url !== 'string') return printable(Object.keys(value).join(', '));
  const names = isObject(headers)
    ? Object.entries(headers).map(([name, text]) => `${name}: ${String(text)}`)
    : [];
  return printable(url) + (names.length === 0 ? '' : ` (${printable(names.join(', '))})`);
}
