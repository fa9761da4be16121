import type { Check } from '../../../check/check.ts';
import { checksFor } from '../../../check/checks.ts';
import type { Settings } from '../../../config/settings.ts';
import { ConfigError } from '../../../errors.ts';
import { proofCodes, proofTitle } from '../../../idempotence/prove.ts';
import { addIdempotenceFlags, rejectStrayFlags } from './idempotence/options.ts';
import { TEST_SUITE, type TestOptions } from './options.ts';
import type { Define } from '../../command.ts';
import type { ExitCode } from '../../exit-code.ts';
import { formatTable } from '../../print/table.ts';
import { withReports, type Reports } from '../../print/reports.ts';
import { jsonLine } from '../../json-line.ts';
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
Sends what the real sender sends (each type, signed; twice; anonymous; unicode;
32 KB), and what a forger would (unsigned, wrongly signed, tampered). The right
response to a valid message is 2xx within the timeout, to a forgery or to bad
JSON 4xx: 2xx lets a forger in, 5xx is sent again for 4 hours. The messages are
marked as tests (hooks-test-…), but they are real: not for a receiver in use.

-- COMMAND starts the receiver, with the URL's port as PORT and the secret as
HOOKS_SECRET, shows what it prints on standard error, waits until it listens,
and stops it with all that it has started after the checks.

--state COMMAND runs other checks, and only those: whether the receiver ends in
the same state whatever comes twice, late, or into a crash. COMMAND runs in a
shell and prints the state as text; what comes out of the same messages, each
sent once, is the reference. --reset COMMAND brings the state back to the start;
without it the receiver behind -- must start empty. With both, the receiver is
killed and started again too. Every run starts from the beginning: never give
the commands of a receiver in use.

Exits with 0 when every check passed, with 1 when one failed or the receiver
died, and with 2 when no check could run: there is no receiver, COMMAND does not
start, another program has the port, or the state shows nothing.
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
      const inputs = messages === undefined ? capture : [...capture, messages];
      const reported = { report, suite: TEST_SUITE, inputs };
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

/** Throws ConfigError where the first word of the receiver's command was taken for the URL. */
function rejectForgottenUrl(url: string | undefined, words: readonly string[]): void {
  if (url === undefined || words.length === 0 || /^[a-z][a-z\d+.-]*:/i.test(expandUrl(url))) return;
  throw new ConfigError(`Expected the URL of the receiver before --, got \`${printable(url, 100)}\``, {
    key: 'url',
    hint: 'give it first: hooks test http://localhost:3000/webhook … -- COMMAND; the command finds its port in PORT',
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

/** The only webhook of the config that --config names. One that is found may be of a receiver in use, and the messages are real. */
async function configuredUrl(options: TestOptions, io: Io): Promise<string> {
  const settings = typeof options.config === 'string' ? await loadedSettings(options, io) : undefined;
  const destinations = Object.values(settings?.sources ?? {}).flatMap((source) =>
    Object.values(source.destinations),
  );
  const urls = [...new Set(destinations.flatMap(({ webhooks }) => webhooks.map(({ url }) => url)))];
  const [url] = urls;
  if (url !== undefined && urls.length === 1) return url;
  throw new ConfigError(
    `Expected the URL of the receiver, got ${urls.length === 0 ? 'none' : 'a config with several'}`,
    {
      key: 'url',
      hint: 'give it: hooks test http://localhost:3000/webhook; or name a config with one webhook: -c .hooksrc.yaml',
    },
  );
}

async function loadedSettings(options: TestOptions, io: Io): Promise<Settings> {
  return (await import('../../flags/delivery/settings.ts')).commandSettings(options, io);
}

function collectCodes(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...value.split(',').map((code) => code.trim())];
}
