import type { Define } from '../../command.ts';
import { addSchemeFlag } from '../../flags/signature/scheme-flags.ts';
import { addSecretFlags } from '../../flags/signature/secret-flags.ts';
import type { ListenOptions } from './options.ts';
import { listen } from './run.ts';
import { collect, countFrom, given, parsePort, timeFrom } from '../../flags/flag-values.ts';
import { expandUrl } from '../../flags/short-url.ts';

const EXAMPLES = `Examples:
  $ hooks listen --secret s3cret             # show and verify what arrives
  $ hooks listen --respond 503x2,timeout,200 # fail three times, then accept
  $ hooks listen --save captures             # keep each request for a replay
  $ hooks listen --ui --forward http://localhost:3000/webhook # in a browser
  $ hooks listen --filter 'type=track,event~^Order' # client libraries, too
  $ hooks listen --port 0 --count 3 --within 30s -o json # in a script
`;

const DETAILS = `
--respond takes steps separated by commas; the last one repeats forever.
  503  204x3             a status from 200 to 599; x3: three times
  429@retry-after=3      with headers; quote a value that contains , or @
  delay=5100ms           200 after that time; 500@delay=2s: another status
  slow-body              200 and its headers at once, then an endless body
  reset                  reset the connection
  timeout                no response; shown when the sender gives up
Only a POST gets this response. Other methods get 405 and are shown. GET /
responds that this is a receiver, and is not shown.

A call of a client library of a tracking API (/v1/batch, /v1/track and the like)
gets the response {"success":true} and is shown with its messages; it has no
signature.
--filter hides requests without a matching message, but still counts them.
Several --filter must all match the same message, like conditions in one.
Conditions: type=track userId!=u1 properties.total>5 timestamp>now-1h event~^A
properties.email? context.ip!? (present, absent), separated by commas.
For analytics.js, set its cdnURL to the URL of this receiver.
--plan shows what each message violates in the plan. The response and the exit
code stay the same; hooks expect --plan checks the messages of a program.

--forward sends the bytes and headers of each POST unchanged to the URL. The
sender gets the status of that response, 502 or 504 if there is none, or the
response of --respond. delivery.ca in the config names issuers to trust.
--self-signed speaks TLS with a new certificate for localhost and --host, which
senders reject unless they trust it: -o json prints it as "certificate".
--ui is a web inbox: search, compare, edit, replay and export requests, change
the responses. It is at /_hooks; a page without the token of the printed URL
can only read, and only on this machine.

Keys on a terminal: c copies the last request as a curl command, with variables
for secrets, r sends it again, to --forward if given, / filters the following
requests, and q stops.

The headers of a request select the signature scheme. --require-signature uses
the scheme of --scheme or the config (github, stripe and others), else segment.

It exits by itself only with --count, --until-idle or --within, whichever comes
first: with 0 if the expected requests arrived, else with 1. With --count that
many valid POSTs are expected (any POST without a secret), whatever their
response; otherwise at least one request, and only valid POSTs. Ctrl-C exits
with 0, or with 130 if requests were expected.
`;

export const defineListen: Define = (command, { io, exit }) => {
  command.argument('[port]', 'listen on this port, as with --port', parsePort);
  addSchemeFlag(addSecretFlags(command, 'verify'), 'accept these signature schemes (default: any)')
    .option('-p, --port <port>', 'listen on this port; 0 takes a free one', parsePort, 8787)
    .option('--host <host>', 'listen on this address; 0.0.0.0 admits other machines', '127.0.0.1')
    .option('--respond <script>', 'respond with 503x2,timeout,200 and the like (default: 200)')
    .option('--require-signature', 'respond with 401 to a request that does not verify')
    .option('--save <folder>', 'save each request there as a capture', given)
    .option('--forward <url>', 'forward each POST to another receiver', expandUrl)
    .option('--ca <file>', 'trust the issuers of this PEM file when forwarding', given)
    .option('--self-signed', 'speak TLS with a new certificate for localhost')
    .option('--cert-out <file>', 'write that certificate to a file, for senders', given)
    .option('--ui', 'serve a web inbox under /_hooks')
    .option('--filter <filter>', 'show only requests with a message that matches (repeat)', collect)
    .option('--plan <path>', 'show what messages violate in this plan (see hooks plan)', given)
    .option('--count <n>', 'exit after this many requests', countFrom(1))
    .option('--until-idle <time>', 'exit this long after the last request', timeFrom(1))
    .option('--within <time>', 'exit after this long', timeFrom(1))
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', DETAILS)
    .action(async (port: number | undefined) => {
      if (port !== undefined) command.setOptionValueWithSource('port', port, 'cli');
      exit(await listen(command.optsWithGlobals<ListenOptions>(), io));
    });
};
