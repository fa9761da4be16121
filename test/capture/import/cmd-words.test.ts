import { expect, it } from 'vitest';
import { cmdCommands } from '../../../src/capture/import/cmd-words.ts';

it('reads a body of 300,000 characters in linear time', () => {
  const body = 'a'.repeat(300_000);
  const [command] = cmdCommands(`curl ^\n http://127.0.0.1/ -d "${body}"\n`);
  expect(command?.words).toEqual(['curl', 'http://127.0.0.1/', '-d', body]);
});
