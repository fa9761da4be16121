import { Argument } from 'commander';
import type { Define } from '../../command.ts';
import { BASH_SCRIPT } from './bash-script.ts';
import { FISH_SCRIPT } from './fish-script.ts';
import { POWERSHELL_SCRIPT } from './powershell-script.ts';
import { ZSH_SCRIPT } from './zsh-script.ts';

/** The scripts that make a shell call `hooks complete` on Tab. */
const SCRIPTS = {
  bash: BASH_SCRIPT,
  zsh: ZSH_SCRIPT,
  fish: FISH_SCRIPT,
  powershell: POWERSHELL_SCRIPT,
};

const EXAMPLES = `Examples:
  $ eval "$(hooks completion bash)"          # in ~/.bashrc
  $ hooks completion zsh > ~/.zfunc/_hooks   # with fpath+=~/.zfunc in ~/.zshrc
  $ hooks completion fish > ~/.config/fish/completions/hooks.fish
  $ hooks completion powershell > hooks.ps1  # . ./hooks.ps1 in $PROFILE
`;

const DETAILS = `
Completes commands, flags, message types, --output and the like, files, checks,
signature schemes, the names of the config's sources and destinations, and the
ids of a queue in a file; never a secret. A config file that is code is not run.
`;

export const defineCompletion: Define = (command, { io }) => {
  command
    .addArgument(new Argument('<shell>', 'print the script of this shell').choices(Object.keys(SCRIPTS)))
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', DETAILS)
    .action((shell: keyof typeof SCRIPTS) => io.out(SCRIPTS[shell]));
};

/** The hidden command that the completion scripts call. */
export const defineComplete: Define = (command, { io }) => {
  command
    .argument('[words...]')
    .allowUnknownOption()
    .action(async (words: readonly string[]) => {
      if (command.parent === null) return;
      const { printCompletions } = await import('./run.ts');
      await printCompletions(command.parent, words, io);
    });
};
