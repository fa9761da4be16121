import { planChanges } from '../../../plan/plan.ts';
import { printable } from '../../../redact.ts';
import { ExitCode } from '../../exit-code.ts';
import { readPlanFile } from '../../flags/plan-file.ts';
import type { Io } from '../../io.ts';
import { jsonLine } from '../../json-line.ts';
import { formatRow } from '../../print/table.ts';
import type { DiffFlags } from './options.ts';

type LabeledChange = Awaited<ReturnType<typeof planChanges>>[number];

/** Runs `hooks plan diff`. */
export async function diffPlans(
  before: string,
  after: string,
  options: DiffFlags,
  io: Io,
): Promise<ExitCode> {
  const plans = [before, after].map((path) => readPlanFile(path, io));
  const [old, current] = await Promise.all(plans);
  const changes = old && current ? await planChanges(old, current) : [];
  const breaking = changes.filter(({ change }) => change === 'breaking').length;
  if (options.output === 'json') {
    for (const { label: _label, rule, path, change, what } of changes) {
      const { type, event, version } = rule;
      io.out(jsonLine({ change, type, event, version, path, what }));
    }
    io.out(jsonLine({ summary: { breaking, compatible: changes.length - breaking } }));
  } else if (options.markdown) io.out(markdownText(changes, breaking));
  else if (!options.quiet) io.out(changesText(changes, breaking, io));
  return breaking > 0 ? ExitCode.negative : ExitCode.ok;
}

function changesText(changes: readonly LabeledChange[], breaking: number, io: Io): string {
  const lines = changes.map(({ change, label, path, what }) => {
    const isBreaking = change === 'breaking';
    const cells = [
      {
        text: isBreaking ? '✗ breaking' : '✓ compatible',
        minWidth: 12,
        paint: isBreaking ? io.color.red : io.color.green,
      },
      { text: printable(label, 100), paint: io.color.bold },
      { text: printable(`${path} ${what}`.trim(), 300) },
    ];
    return `${formatRow(cells, { columns: io.stdoutColumns })}\n`;
  });
  return `${lines.join('')}${summaryText(changes.length, breaking)}\n`;
}

function summaryText(count: number, breaking: number): string {
  if (count === 0) return 'the plans accept the same messages';
  return `${breaking} breaking, ${count - breaking} compatible`;
}

/** A table for a pull request. Code spans keep names from becoming links, mentions or markup. */
function markdownText(changes: readonly LabeledChange[], breaking: number): string {
  const mark = breaking > 0 ? '✗' : '✓';
  const rows = changes.map(({ change, label, path, what }) => {
    return `| ${change} | ${code(label)} | ${path === '' ? '' : code(path)} | ${code(what)} |\n`;
  });
  const table =
    rows.length === 0
      ? ''
      : `\n| change | rule | property | what |\n| --- | --- | --- | --- |\n${rows.join('')}`;
  return `### ${mark} Tracking plan: ${summaryText(changes.length, breaking)}\n${table}`;
}

function code(text: string): string {
  const longest = Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length));
  const fence = '`'.repeat(longest + 1);
  const space = longest > 0 ? ' ' : '';
  return `${fence}${space}${printable(text, 300).replaceAll('|', '\\|')}${space}${fence}`;
}
