import { InvalidArgumentError } from 'commander';
import { parseDuration } from '../../duration.ts';
import type { Define } from '../command.ts';
import { addSecretFlags } from '../signature/secret-flags.ts';
import { listen, type ListenOptions } from '../listening.ts';

const EXAMPLES = `Examples:
  $ hooks listen --secret s3cret             # show and verify what arrives
  $ hooks listen --respond 503x2,timeout,200 # fail three times, then take it
  $ hooks listen --save captures             # keep each request for a replay
  $ hooks listen --port 0 --count 3 --within 30s -o json # 0 when three came
`;

const DETAILS = `
What --respond takes: steps with commas between, the last repeated for ever.
  503  204x3             a status from 200 to 599, so many times
  429@retry-after=3      with headers; in double quotes a value with , or @
  delay=5100ms           200 after that time; 500@delay=2s: a status after it
  slow-body              200 and its headers at once, then a body without end
  reset                  the connection is reset
  timeout                no answer; shown when its sender gives up
It answers POSTs. Another method gets 405 and is shown; GET / says that this is
a receiver, and is not shown.

By itself it ends with --count, --until-idle or --within only, whichever comes
first: with 0 when what was expected came, else with 1. Expected are --count
POSTs that are valid (without a secret: any POST), whatever they were answered;
without --count at least one request, and every one of them such a POST.
Ctrl-C ends it with 0, or with 130 when something was expected.
`;

export const define: Define = (command, { io, exit }) => {
  addSecretFlags(command)
    .option('--port <port>', 'port to listen on; 0 takes a free one', parsePort, 8787)
    .option('--host <host>', 'address to listen on; 0.0.0.0 lets other machines in', '127.0.0.1')
    .option('--respond <script>', 'what to answer, such as 503x2,timeout,200 (default: 200)')
    .option('--require-signature', 'answer 401 to what does not verify')
    .option('--save <folder>', 'keep each request there as a capture')
    .option('--count <n>', 'end when so many requests came', parseCount)
    .option('--until-idle <time>', 'end when none came for so long, from the first on', parseTime)
    .option('--within <time>', 'end after so long', parseTime)
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', DETAILS)
    .action(async () => exit(await listen(command.optsWithGlobals<ListenOptions>(), io)));
};

function parsePort(text: string): number {
  const port = /^\d{1,5}$/.test(text) ? Number(text) : Number.NaN;
  if (!(port <= 65_535)) throw new InvalidArgumentError('Expected a port from 0 to 65535.');
  return port;
}

function parseCount(text: string): number {
  const count = /^\d{1,9}$/.test(text) ? Number(text) : 0;
  if (count < 1) throw new InvalidArgumentError('Expected a whole number from 1.');
  return count;
}

function parseTime(text: string): number {
  const durationMs = parseDuration(text);
  if (typeof durationMs === 'number' && durationMs > 0) return durationMs;
  throw new InvalidArgumentError('Expected a time with its unit, such as 500ms, 30s or 5m.');
}
