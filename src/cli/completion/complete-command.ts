import type { Define } from '../command.ts';
import { complete } from './complete.ts';

/** What the shells' scripts ask (hooks completion); not for people. */
export const defineComplete: Define = (command, { io }) => {
  command
    .argument('[words...]')
    .allowUnknownOption()
    .action(async (words: readonly string[]) => {
      if (command.parent !== null) await complete(command.parent, words, io);
    });
};
