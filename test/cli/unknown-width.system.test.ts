// Needs python3.
import { describe, expect, it } from 'vitest';
import { BINARY } from '../end-to-end/hooks.ts';
import { atTerminal } from '../end-to-end/terminal.ts';
import { hasTool } from '../external-tool.ts';
import { temporaryFolder } from '../temporary-folder.ts';

const FILES = {
  'body.json':
    '{"type":"track","event":"Signup","userId":"u1","timestamp":"2026-01-02T03:04:05.678Z","messageId":"m1"}',
};
const CLEAR_LINE = '\u001b[K';
const COMMANDS = [
  ['help', 'sending'],
  ['send', 'track', '--evnt', 'x'],
  ['replay', '-v', '--loopback', 'body.json'],
] as const;

describe.skipIf(!hasTool('python3', '--version'))('a terminal that reports 0 columns', () => {
  it.concurrent.each(COMMANDS)('is taken for one of 80: %s %s', async (...args) => {
    const lines = [0, 80].map(async (columns) => {
      const line = `stty cols ${columns}; exec '${process.execPath}' '${BINARY}' ${args.join(' ')}`;
      const { shown } = await atTerminal(['sh', '-c', line], { cwd: temporaryFolder(FILES), steps: [] });
      // Times, ports, signatures with a random secret and drawings of the bar differ between two runs.
      const text = shown
        .split('\n')
        .map((each) => each.split(CLEAR_LINE).at(-1) ?? '')
        .join('\n')
        .replaceAll(/in \d+ms.*|\d+(?:\.\d+)?ms|:\d{5}|[\da-f]{40}|(?<=date: ).*/g, '');
      return text.split('\n').map((each) => each.replaceAll(/ +/g, ' '));
    });
    const [unknown, known] = await Promise.all(lines);
    expect(unknown).toEqual(known);
    expect(unknown?.length).toBeGreaterThan(1);
  });
});
