import type { Define } from '../command.ts';
import { addSecretFlags } from '../flags/signature/secret-flags.ts';
import type { ListenOptions } from './options.ts';
import { listen } from './run.ts';
import { countFrom, given, parsePort, timeFrom } from '../flags/flag-values.ts';

const EXAMPLES = `Examples:
  $ hooks listen --secret s3cret             # show and verify what arrives
  $ hooks listen --respond 503x2,timeout,200 # fail three times, then take it
  $ hooks listen --save captures             # keep each request for a replay
  $ hooks listen --ui --forward http://localhost:3000/webhook # in a browser
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

--forward passes each POST on, its bytes and headers as they came, to the URL
as given. Its sender gets the status that came back, 502 or 504 when none did;
with --respond what that says. delivery.ca in the config names issuers to trust.
--self-signed speaks TLS with a new certificate for localhost and --host, which
senders refuse unless told to trust it: -o json has it as "certificate".
--ui is a web inbox: search, compare, copy and replay what came. It is at
/_hooks, for this machine; other machines need the token in its printed URL.

By itself it ends with --count, --until-idle or --within only, whichever comes
first: with 0 when what was expected came, else with 1. Expected are --count
POSTs that are valid (without a secret: any POST), whatever they were answered;
without --count at least one request, and every one of them such a POST.
Ctrl-C ends it with 0, or with 130 when something was expected.
`;

export const defineListen: Define = (command, { io, exit }) => {
  addSecretFlags(command, 'verify')
    .option('--port <port>', 'port to listen on; 0 takes a free one', parsePort, 8787)
    .option('--host <host>', 'address to listen on; 0.0.0.0 lets other machines in', '127.0.0.1')
    .option('--respond <script>', 'what to answer, such as 503x2,timeout,200 (default: 200)')
    .option('--require-signature', 'answer 401 to what does not verify')
    .option('--save <folder>', 'keep each request there as a capture', given)
    .option('--forward <url>', 'pass each POST on to another receiver')
    .option('--self-signed', 'speak TLS with a certificate that it makes')
    .option('--ui', 'serve a web inbox under /_hooks')
    .option('--count <n>', 'end when so many requests came', countFrom(1))
    .option('--until-idle <time>', 'end when none came for so long, from the first on', timeFrom(1))
    .option('--within <time>', 'end after so long', timeFrom(1))
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', DETAILS)
    .action(async () => exit(await listen(command.optsWithGlobals<ListenOptions>(), io)));
};
