import type { Check } from '../../../check/check.ts';
import { checksFor } from '../../../check/checks.ts';
import { ConfigError } from '../../../errors.ts';
import { proofCodes, proofTitle } from '../../../idempotence/prove.ts';
import { addIdempotenceFlags, rejectStrayFlags } from './idempotence/options.ts';
import { TEST_SUITE, type TestOptions } from './options.ts';
import type { Define } from '../../command.ts';
import type { ExitCode } from '../../exit-code.ts';
import { formatTable } from '../../print/table.ts';
import { withReports, type Reports } from '../../print/reports.ts';
import { jsonLine } from '../../json-line.ts';
import { destinationsOf } from '../../flags/delivery/where-to.ts';
import { commandSchemes } from '../../flags/signature/scheme-flags.ts';
import { addSecretFlags } from '../../flags/signature/secret-flags.ts';
import type { Io } from '../../io.ts';
import { settingOption } from '../../flags/setting-flags.ts';
import { collect, collectGiven, joinNames, timeFrom } from '../../flags/flag-values.ts';
import { expandUrl } from '../../flags/short-url.ts';
import { printable } from '../../../redact.ts';

const EXAMPLES = `Examples:
  $ hooks test http://localhost:3000/webhook --secret s3cret
  $ hooks test http://localhost:3000/webhook --report r.xml -- node server.js
  $ hooks test http://localhost:3000/webhook --only unsigned,tampered -o json
  $ hooks test http://localhost:3000/webhook --secret s3cret \\
      --reset 'rm -f app.db' --state "sqlite3 app.db 'select * from counts'" \\
      -- python3 app.py
  $ hooks test --list
`;

const DETAILS = `
Sends what a real sender sends (each type, signed; twice; anonymous; unicode;
32 KB), and what a forger would send (unsigned, wrongly signed, tampered). A
receiver should respond to a valid message with 2xx within the timeout, and to a
forgery or bad JSON with 4xx: 2xx lets a forger in, 5xx is retried for 4 hours.
The messages are marked as tests (hooks-test-…), but they are real: never test a
receiver in production.

-- COMMAND starts the receiver, with the URL's port as PORT and the secret as
HOOKS_SECRET, shows its output on standard error, waits until it listens, and
after the checks stops it with all processes that it started.

--state COMMAND runs other checks instead: whether the receiver ends in the same
state when messages arrive twice, late, or during a crash. COMMAND runs in a
shell and prints the state as text. The reference is the state after each
message was sent once. --reset COMMAND empties the state; without --reset the
receiver behind -- must start empty. With both, the receiver is also killed and
started again. Every run starts with a reset: never give the commands of a
receiver in production.

Exits with 0 if every check passed, with 1 if one failed or the receiver died,
and with 2 if no check could run: nothing listens at the URL, COMMAND does not
start, another program has the port, or the messages do not change the state.
`;

export const defineTest: Define = (command, { io, exit }) => {
  const test = addSecretFlags(
    command
      .argument('[url]', 'check this receiver (default: the webhook of -c FILE)')
      .argument('[command...]', 'start this receiver first, and stop it afterwards')
      .usage('<url> [options] [-- COMMAND…]'),
    'sign',
  )
    .option('--scheme <names>', 'sign by these schemes, and forge them (default: segment)', joinNames)
    .option('-H, --header <header>', "send 'Name: value' with every request (repeat)", collect)
    .addOption(settingOption('delivery.timeout', 'limit one response, 1ms to 30s'))
    .addOption(settingOption('delivery.ca'))
    .option('--only <code,…>', 'run only these checks (repeat)', collectCodes)
    .option('--skip <code,…>', 'skip these checks (repeat)', collectCodes)
    .option('--capture <file>', 'send the body of a capture too, signed again (repeat)', collectGiven)
    .option('--list', 'list all checks without running them')
    .option('--report <file>', 'write a JUnit (.xml) or JSON (.json) report')
    .option('--start-timeout <duration>', 'wait this long for COMMAND to listen (default: 30s)', timeFrom(1));
  addIdempotenceFlags(test)
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', DETAILS)
    .action(async (url: string | undefined, words: readonly string[]) => {
      const options = command.optsWithGlobals<TestOptions>();
      if (options.list) return listChecks(checksFor(await commandSchemes(options, 'sign', io)), options, io);
      const { report, messages, capture = [] } = options;
      const reported = { report, suite: TEST_SUITE, inputs: [...capture, messages] };
      const run = async (reports: Reports): Promise<ExitCode> => {
        rejectStrayFlags(options);
        rejectForgottenUrl(url, words);
        const tested = { url: expandUrl(url ?? (await configuredUrl(options, io))), command: words };
        const { state } = options;
        if (state === undefined) {
          return (await import('./run.ts')).testReceiver(tested, options, { io, reports });
        }
        const { testIdempotence } = await import('./idempotence/run.ts');
        return testIdempotence(tested, { ...options, state }, { io, reports });
      };
      exit(await withReports(reported, io, run));
    });
};

/** Throws ConfigError if the first word of the receiver's command was parsed as the URL. */
function rejectForgottenUrl(url: string | undefined, words: readonly string[]): void {
  if (url === undefined || words.length === 0 || /^[a-z][a-z\d+.-]*:/i.test(expandUrl(url))) return;
  throw new ConfigError(`Expected the URL of the receiver before --, got \`${printable(url, 100)}\``, {
    key: 'url',
    hint: 'give the URL first: hooks test http://localhost:3000/webhook … -- COMMAND; COMMAND gets its port as PORT',
  });
}

function listChecks(
  checks: readonly Check[],
  { output }: TestOptions,
  { out, stdoutColumns: columns }: Io,
): void {
  if (output === 'json') {
    for (const { code, title, expects, needsSecret = false } of checks) {
      out(jsonLine({ check: code, title, expects, needsSecret }));
    }
    for (const code of proofCodes()) {
      out(jsonLine({ check: code, title: proofTitle(code), needsState: true }));
    }
    return;
  }
  const rows = checks.map(({ code, title }) => [{ text: code }, { text: title }]);
  const withState = proofCodes().map((code) => [{ text: code }, { text: `${proofTitle(code)} (--state)` }]);
  out(formatTable([...rows, ...withState], { columns }));
}

/**
 * Returns the only webhook of the config that --config names. Other configs are not searched: their webhook may be in
 * production, and the messages are real.
 */
async function configuredUrl(options: TestOptions, io: Io): Promise<string> {
  const { commandSettings } = await import('../../flags/delivery/settings.ts');
  const settings = typeof options.config === 'string' ? await commandSettings(options, io) : undefined;
  const destinations = destinationsOf(settings?.sources ?? {});
  const urls = [...new Set(destinations.flatMap(({ webhooks }) => webhooks.map(({ url }) => url)))];
  const [url] = urls;
  if (url !== undefined && urls.length === 1) return url;
  throw new ConfigError(
    `Expected the URL of the receiver, got ${urls.length === 0 ? 'none' : 'a config with several'}`,
    {
      key: 'url',
      hint: 'give the URL: hooks test http://localhost:3000/webhook; or name a config with one webhook: -c .hooksrc.yaml',
    },
  );
}

function collectCodes(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...value.split(',').map((code) => code.trim())];
}
