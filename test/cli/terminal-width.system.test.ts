// Needs tmux.
import { execFileSync } from 'node:child_process';
import { expect, it, onTestFinished } from 'vitest';
import { hasTool } from '../external-tool.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';

const HOOKS = new URL('../../bin/hooks.js', import.meta.url).pathname;

it.skipIf(!hasTool('tmux', '-V'))('shows whole words on a screen of 60 columns', async () => {
  const cwd = temporaryFolder({
    '.hooksrc': 'webhooks: [http://127.0.0.1:9/a/path/that/is/wider/than/that]\n',
  });
  const socket = `${cwd}/tmux`;
  const tmux = (...args: string[]): string =>
    execFileSync('tmux', ['-S', socket, ...args], { encoding: 'utf8' });
  onTestFinished(() => void tmux('kill-server'));
  const send = `node ${HOOKS} send track --event 注文完了した --user-id u --retry-for 0`;
  const command = `HOOKS_SECRET=s HOOKS_DATA_DIR=${cwd}/data ${send}; echo ended; cat`;
  tmux('new-session', '-d', '-x', '60', '-y', '30', '-c', cwd, command);
  let screen = '';
  await until(() => (screen = tmux('capture-pane', '-p')).includes('ended'), 'the end');
  const lines = screen.trimEnd().split('\n');
  expect(lines[0]).toMatch(/^✗ failed {4}track {4}注文完了した {13}refused +\d+ms$/);
  expect(lines[1]).toBe('    http://127.0.0.1:9/a/path/that/is/wider/than/that');
  expect(lines[2]).toMatch(/^ {2}Delivery failed after 1 round in \d+ms: cannot connect to$/);
  expect(lines[3]).toBe('  http://127.0.0.1:9/a/path/that/is/wider/than/that');
  expect(lines.at(-3)).toMatch(/^(?:hint: | {6}) \S/);
});
