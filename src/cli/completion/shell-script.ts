import { BASH_SCRIPT } from './bash-script.ts';
import { FISH_SCRIPT } from './fish-script.ts';
import { POWERSHELL_SCRIPT } from './powershell-script.ts';
import { ZSH_SCRIPT } from './zsh-script.ts';

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof SHELLS)[number];

const SCRIPTS: Readonly<Record<Shell, string>> = {
  bash: BASH_SCRIPT,
  zsh: ZSH_SCRIPT,
  fish: FISH_SCRIPT,
  powershell: POWERSHELL_SCRIPT,
};

/** The script that makes a shell ask `hooks complete` when Tab is pressed. */
export function shellScript(shell: Shell): string {
  return SCRIPTS[shell];
}
