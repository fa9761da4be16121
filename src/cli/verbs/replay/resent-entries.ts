import type { Checkpoint } from '../../../replay/checkpoint/checkpoint.ts';
import type { Input } from '../../../replay/reading/inputs.ts';
import { readEntries } from '../../../replay/reading/read-entries.ts';
import { ReplaySelection, type SelectionOptions } from '../../../replay/selection.ts';
import { prepareEntry } from './entry-message.ts';
import type { ReplayOptions } from './options.ts';
import { originalOf } from './sent-message.ts';

interface ResentContext {
  readonly inputs: readonly Input[];
  readonly checkpoint: Checkpoint | undefined;
  readonly selection: SelectionOptions;
  readonly options: ReplayOptions;
  readonly signal: AbortSignal;
}

/** Yields the selected entries that are not settled yet, each as its line in the `--failed` file. */
export async function* resentEntries(context: ResentContext): AsyncGenerator<Uint8Array> {
  const { inputs, checkpoint, options, signal } = context;
  const { exact = false, format } = options;
  const selection = new ReplaySelection(context.selection);
  let index = -1;
  for (const input of inputs) {
    for await (const entries of readEntries(input, signal, { exact, format })) {
      for (const entry of entries) {
        const { value, error } = prepareEntry(entry, { exact });
        index++;
        const isSent = selection.takes(value) && !checkpoint?.has(index);
        if (!isSent || entry.kind === 'broken') continue;
        yield error === undefined ? originalOf(entry, { isExact: exact }) : entry.bytes;
      }
    }
  }
}
