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

/** First bytes of gzip. */
const GZIP = 0x1f8b;

/** Each version of zlib packs differently. */
function unpacked(sender: WrongSender): WrongSender {
  const bytes = Buffer.from(sender.body, 'base64');
  return bytes.length > 2 && bytes.readUInt16BE(0) === GZIP
    ? { ...sender, body: gunzipSync(bytes).toString() }
    : sender;
}
