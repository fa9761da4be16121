import { HooksError } from '../../errors.ts';
import type { Checkpoint } from '../../replay/checkpoint.ts';
import { interruptedCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { sentence } from '../sentence.ts';
import type { ReplayOptions } from './options.ts';
import type { ReplayOutput } from './output.ts';

interface Ending {
  readonly isComplete: boolean;
  readonly output: ReplayOutput;
  readonly options: ReplayOptions;
  readonly io: Io;
}

/** Tells who has interrupted a replay how to carry on. What was delivered is delivered, whether or not it can be written down. */
export async function finishCheckpoint(checkpoint: Checkpoint, ending: Ending): Promise<void> {
  const { isComplete, output, options, io } = ending;
  const isInterrupted = interruptedCode(io) !== undefined;
  try {
    await checkpoint.finish({ isComplete });
    if (isInterrupted && checkpoint.isKept && !options.quiet)
      output.note('interrupted; the same command with --resume sends what was not settled');
  } catch (error) {
    if (!(error instanceof HooksError)) throw error;
    if (isInterrupted || options.resume || options.again)
      output.note(`--resume cannot carry on from here: ${sentence(error)}`);
  }
}
