import { formatCount } from '../../../message/limits.ts';
import { inferPlan, planFiles } from '../../../plan/plan.ts';
import { escapeInJson, printable } from '../../../redact.ts';
import { nothingToRead } from '../../../replay/reading/read-entries.ts';
import { ExitCode, interruptedCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { entriesOf, openFiles } from './messages.ts';
import type { InferFlags } from './options.ts';

/** Runs `hooks plan infer`. Prints no plan if it was interrupted, because the plan would lack rules. */
export async function inferFromFiles(
  patterns: readonly string[],
  { quiet, verbose }: InferFlags,
  io: Io,
): Promise<ExitCode> {
  const inputs = await openFiles(patterns, io);
  const inference = await inferPlan();
  let [read, unreadable] = [0, 0];
  for await (const entry of entriesOf(inputs, io)) {
    read++;
    if (entry.value !== undefined) inference.add(entry.value);
    else if (unreadable++ === 0 && !quiet) {
      const { file, line } = entry.origin;
      io.note(
        `note: ${printable(`${file}:${line}`)} is not a message: ${printable(entry.error.message, 300)}`,
      );
    }
  }
  const interrupted = interruptedCode(io);
  if (interrupted !== undefined) return interrupted;
  if (inference.counts.length === 0) throw nothingToRead(inputs);
  if (!quiet) for (const { text } of inference.remarks) io.note(`note: ${printable(text, 1_000)}`);
  if (verbose) {
    for (const { label, count } of inference.counts) {
      io.note(`${formatCount(count).padStart(9)}  ${printable(label, 200)}`);
    }
  }
  if (!quiet && unreadable > 1) io.note(`note: ${formatCount(unreadable)} entries are not messages`);
  const [file] = await planFiles(inference.document, { form: 'segment', isSplit: false });
  io.verbatim.out(`${escapeInJson(JSON.stringify(file?.value, undefined, 2))}\n`);
  return unreadable === 0 ? ExitCode.ok : ExitCode.negative;
}
