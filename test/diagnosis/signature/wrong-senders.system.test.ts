// Needs python3.
import { execFileSync } from 'node:child_process';
import { fileURLToPath } from 'node:url';
import { gunzipSync } from 'node:zlib';
import { expect, it } from 'vitest';
import { hasTool } from '../../external-tool.ts';
import { wrongSenders, type WrongSender } from './wrong-senders.ts';

const SCRIPT = fileURLToPath(new URL('wrong-senders.py', import.meta.url));

it.skipIf(!hasTool('python3', '--version'))('the wrong senders match the output of Python', () => {
  const printed = JSON.parse(execFileSync('python3', [SCRIPT], { encoding: 'utf8' })) as WrongSender[]; // by the script
  expect(printed.map(unpacked)).toEqual(wrongSenders().map(unpacked));
});

/** Each version of zlib packs differently. */
function unpacked(sender: WrongSender): WrongSender {
  if (sender.code !== 'gzip') return sender;
  return { ...sender, body: gunzipSync(Buffer.from(sender.body, 'base64')).toString() };
}
