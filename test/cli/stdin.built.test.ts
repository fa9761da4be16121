import { expect, it } from 'vitest';
import { inShell } from '../end-to-end/shell.ts';
import { temporaryFolder } from '../temporary-folder.ts';

/** Each command that reads standard input, with the name of the input in its messages. */
const READERS: readonly (readonly string[])[] = [
  ['sign', '--secret', 's'],
  ['verify', '--secret', 's', '--signature', '0'.repeat(40)],
  ['sign', '--secret-file', '-', 'body.json'],
  ['replay', '-', '--loopback'],
  ['send', '--json', '@-', '--loopback'],
  ['audience', 'sync', 'VIP', '-', '--loopback'],
  ['delete', '-'],
];

it.concurrent.each(READERS.map((args) => [args]))(
  'rejects a folder as standard input of %j',
  async (args) => {
    const cwd = temporaryFolder({ 'body.json': '{}' });
    const { code, stdout, stderr } = await inShell('hooks "$@" < .', args, { cwd });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toBe(
      'error: Cannot read standard input: it is a folder\n' +
        'hint:  give it a file (< FILE) or the output of a command (COMMAND |)\n',
    );
  },
);
