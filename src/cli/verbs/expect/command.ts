import { Option } from 'commander';
import type { Define } from '../../command.ts';
import { SUITE } from './output.ts';
import { expectArrivals } from './run.ts';
import type { ExpectOptions } from './options.ts';
import { withReports } from '../../print/reports.ts';
import { addSchemeFlag } from '../../flags/signature/scheme-flags.ts';
import { addSecretFlags } from '../../flags/signature/secret-flags.ts';
import { collect, countFrom, given, timeFrom } from '../../flags/flag-values.ts';

const EXAMPLES = `Examples:
  $ hooks expect --messages 7 -- hooks replay 'fixtures/*.json'
  $ hooks expect --match 'event=Signup,userId=u1' --no-match 'traits.email?' \\
      -- hooks send track --event Signup --user-id u1
  $ hooks expect --count 7 --secret s3cret --within 10s --report expect.xml \\
      -- hooks replay 'fixtures/*.json'
  $ hooks expect --snapshot app.snap --update -- hooks send track --event Signup
  $ hooks expect --count 1 -- sh -c 'curl -sd "{}" "$HOOKS_URL"'
`;

const DETAILS = `
COMMAND gets the URL of the receiver in HOOKS_URL, and with --secret the first
secret in HOOKS_SECRET. Its output goes to stderr. The receiver is a tracking
API too: use the URL as the host of a client library to receive its batches.

--self-signed is for client libraries that speak TLS only. SSL_CERT_FILE,
REQUESTS_CA_BUNDLE and NODE_EXTRA_CA_CERTS name files with the certificate and
those that COMMAND trusted before.

A request of a client library has several messages, gzipped or not; a webhook is
one message. --count, --at-least and --at-most count requests; the other
expectations are about messages.

A filter is a list of conditions, separated by commas. All must hold:
  type=track  event!=Signup     a text; \\, is a comma in it
  properties.total>=5           a number (not a string of digits): > < >= <=
  timestamp>now-1h              a time: 2026-11-20, 2026-11-20T21:10:05Z, now+5m
  event~^Order                  a regular expression
  userId?  properties.email!?   present; absent or null
  properties.**.email?          * is one key, ** any number of them
  writeKey=KEY                  compared in full, shown by its last characters
A POST that is not a message fails every filter.
Each --match needs its own message; '3x event=Signup' expects exactly three.

--schema names a JSON file: an object with a JSON Schema (draft 07 or 2020-12)
for each event name, and for other types under identify, page and so on. A track
fails if its event is not in the file. A remote $ref is never fetched.
--snapshot writes the messages to a file for review, and compares later runs
with it; ids, times, versions and ports are ignored. With CI=true a missing file
fails. --update writes the file again, unless it is read-only.

It exits when COMMAND has ended and the expected messages have arrived, when no
further request can change the result, when no connection has been open for
--linger since COMMAND ended, or when the time is over; then COMMAND and all
processes that it started are stopped. With a secret every signature
must be valid; calls of a tracking API have none.

Exits with 0 if all expectations are met, with 1 if not (or if COMMAND fails or
must be stopped), and with 2 if it could not run.
`;

export const defineExpect: Define = (command, { io, exit }) => {
  command
    .usage('[options] -- COMMAND')
    .argument('<command...>', 'run this command with its arguments')
    .optionsGroup('Expectations:')
    .option('--count <n>', 'expect exactly this many requests', countFrom(0))
    .option('--at-least <n>', 'expect at least this many requests', countFrom(0))
    .option('--at-most <n>', 'expect at most this many requests', countFrom(0))
    .option('--messages <n>', 'expect exactly this many messages in all requests', countFrom(0))
    .option('--match <filter>', 'expect a message that matches (repeat)', collect)
    .addOption(noMatchOption())
    .option('--each <filter>', 'expect every message to match (repeat)', collect)
    .option('--in-order', 'expect the matches in the order given')
    .option('--schema <file>', 'check each message with its JSON Schema in this file', given)
    .option('--plan <path>', 'check each message with this tracking plan (see hooks plan)', given)
    .option('--snapshot <file>', 'compare all messages with this file', given)
    .option('--update', 'write the snapshot again');
  addSchemeFlag(addSecretFlags(command, 'verify'), 'accept these signature schemes (default: any)')
    .optionsGroup('Options:')
    .addOption(
      new Option('--within <time>', 'wait at most this long').argParser(timeFrom(1)).default(30_000, '30s'),
    )
    .addOption(
      new Option('--linger <time>', 'wait this long for more requests after COMMAND')
        .argParser(timeFrom(0))
        .default(2_000, '2s'),
    )
    .option('--respond <script>', 'respond as listen --respond does (default: 200)')
    .option('--self-signed', 'speak TLS with a new certificate, which COMMAND trusts')
    .option('--report <file>', 'write a JUnit (.xml) or JSON (.json) report')
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', DETAILS)
    .action(async (words: readonly string[]) => {
      const options = command.optsWithGlobals<ExpectOptions>();
      const { report, schema, plan, snapshot } = options;
      const reported = { report, suite: SUITE, inputs: [schema, plan, snapshot] };
      exit(await withReports(reported, io, (reports) => expectArrivals(words, options, { io, reports })));
    });
};

/** Makes --no-match an option of its own. Commander would make it the negation of --match because of its name. */
function noMatchOption(): Option {
  const option = new Option('--no-match <filter>', 'expect no message that matches (repeat)').argParser(
    collect,
  );
  option.negate = false;
  return option;
}
