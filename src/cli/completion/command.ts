import { Argument } from 'commander';
import type { Define } from '../command.ts';
import { SHELLS, shellScript, type Shell } from './shell-script.ts';

const EXAMPLES = `Examples:
  $ eval "$(hooks completion bash)"          # in ~/.bashrc
  $ hooks completion zsh > ~/.zfunc/_hooks   # with fpath+=~/.zfunc in ~/.zshrc
  $ hooks completion fish > ~/.config/fish/completions/hooks.fish
  $ hooks completion powershell > hooks.ps1  # . ./hooks.ps1 in $PROFILE
`;

const DETAILS = `
Completes commands, flags, message types, --output and the like, files, and the
names of the config's sources and destinations; never a secret. A config that is
code is not run for it.
`;

export const defineCompletion: Define = (command, { io }) => {
  command
    .addArgument(new Argument('<shell>', 'print the script of this shell').choices(SHELLS))
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', DETAILS)
    .action((shell: Shell) => io.out(shellScript(shell)));
};
