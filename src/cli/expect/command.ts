import { Option } from 'commander';
import type { Define } from '../command.ts';
import { SUITE } from './output.ts';
import { expectArrivals } from './run.ts';
import type { ExpectOptions } from './options.ts';
import { withFailureReport } from '../print/failure-report.ts';
import { addSecretFlags } from '../flags/signature/secret-flags.ts';
import { collect, countFrom, timeFrom } from '../flags/flag-values.ts';

const EXAMPLES = `Examples:
  $ hooks expect --count 7 -- hooks replay 'fixtures/*.json'
  $ hooks expect --count 1 --match 'type=track,event=Signup' \\
      -- hooks send track --event Signup
  $ hooks expect --count 7 --secret s3cret --within 10s --report expect.xml \\
      -- hooks replay 'fixtures/*.json'
  $ hooks expect --count 1 -- sh -c 'curl -sd "{}" "$HOOKS_URL"'
`;

const DETAILS = `
COMMAND gets the URL of the receiver in HOOKS_URL, and with --secret the first
secret in HOOKS_SECRET. Its output goes to stderr.

--match takes what replay --filter takes: path=value with commas between, !=
for all others. Each --match needs another request, so that two equal ones need
two requests; --each must hold for every request. With a secret every
signature must be valid.

It exits when COMMAND has ended and the expected requests have come, when no
further request can change the result, or when the time is over; then COMMAND
and all that it has started are stopped.

Exits with 0 when all is as expected, with 1 when it is not (also when COMMAND
fails or has to be stopped), with 2 when it could not run.
`;

export const defineExpect: Define = (command, { io, exit }) => {
  command
    .usage('[options] -- COMMAND')
    .argument('<command...>', 'run this command with its arguments')
    .optionsGroup('Expectations:')
    .option('--count <n>', 'expect exactly this many requests', countFrom(0))
    .option('--at-least <n>', 'expect at least this many requests', countFrom(0))
    .option('--at-most <n>', 'expect at most this many requests', countFrom(0))
    .option('--match <path=value,…>', 'expect a request with these values (repeat)', collect)
    .option('--each <path=value,…>', 'expect these values in every request (repeat)', collect);
  addSecretFlags(command, 'verify')
    .optionsGroup('Options:')
    .addOption(
      new Option('--within <time>', 'wait at most this long').argParser(timeFrom(1)).default(30_000, '30s'),
    )
    .option('--respond <script>', 'respond as listen --respond does (default: 200)')
    .option('--report <file>', 'write a JUnit (.xml) or JSON (.json) report')
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', DETAILS)
    .action(async (words: readonly string[]) => {
      const options = command.optsWithGlobals<ExpectOptions>();
      const reported = { report: options.report, suite: SUITE, inputs: [] };
      exit(await withFailureReport(reported, io, () => expectArrivals(words, options, io)));
    });
};
