import { script } from '@bomb.sh/tab';
import { BASH_SCRIPT } from './bash-script.ts';

export const SHELLS = ['bash', 'zsh', 'fish', 'powershell'] as const;
export type Shell = (typeof SHELLS)[number];

/** What a shell has to read so that Tab asks `hooks complete`. */
export function shellScript(shell: Shell): string {
  if (shell === 'bash') return BASH_SCRIPT;
  const text = printed(() => script(shell, 'hooks', 'hooks'));
  // What is typed goes through `eval` there: quoted, a $(…) in it is not run by pressing Tab.
  return shell === 'zsh'
    ? text.replace('flagPrefix="-P ${BASH_REMATCH}"', 'flagPrefix="-P ${(q)BASH_REMATCH}"')
    : text;
}

/** The package has no other way to give its text than to print it. */
function printed(print: () => void): string {
  const { log } = console;
  const lines: string[] = [];
  // eslint-disable-next-line no-console -- caught, not used
  console.log = (line: string) => lines.push(line);
  try {
    print();
  } finally {
    // eslint-disable-next-line no-console -- put back as it was
    console.log = log;
  }
  return `${lines.join('\n')}\n`;
}
