import { HooksError } from '../../../errors.ts';
import type { Checkpoint } from '../../../replay/checkpoint/checkpoint.ts';
import { interruptedCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { errorSentence, noteHint } from '../../error-text.ts';
import type { ReplayOptions } from './options.ts';
import type { ReplayOutput } from './output.ts';

interface ReplayEnding {
  readonly checkpoint: Checkpoint | undefined;
  readonly isComplete: boolean;
  readonly output: ReplayOutput;
  readonly options: ReplayOptions;
  readonly io: Io;
}

/**
 * Saves the checkpoint for the last time. After an interruption, prints how to continue. If the checkpoint cannot be saved,
 * the replay does not fail, because its messages have already been sent.
 */
export async function finishCheckpoint({
  checkpoint,
  isComplete,
  output,
  options,
  io,
}: ReplayEnding): Promise<void> {
  const isInterrupted = interruptedCode(io) !== undefined;
  try {
    await checkpoint?.finish({ isComplete });
    if (isInterrupted && checkpoint?.isKept && !options.quiet) {
      output.note('interrupted; the same command with --resume sends the rest');
    }
  } catch (error) {
    if (!(error instanceof HooksError)) throw error;
    if (isInterrupted || options.resume || options.again) {
      const note = (line: string): void => output.note(line);
      note(`--resume cannot continue from here: ${errorSentence(error)}`);
      if (error.hint !== undefined) noteHint({ note, errColor: io.errColor }, error.hint);
    }
  }
}
