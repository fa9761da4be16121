import { CHECKS } from '../../check/checks.ts';
import { ConfigError } from '../../errors.ts';
import type { TestOptions } from './options.ts';
import type { Define } from '../command.ts';
import type { ExitCode } from '../exit-code.ts';
import { withFailureReport } from '../print/failure-report.ts';
import { jsonLine } from '../print/json-line.ts';
import { addSecretFlags } from '../flags/signature/secret-flags.ts';
import type { Io } from '../io.ts';
import { collect, collectGiven, timeFrom } from '../flags/flag-values.ts';

const EXAMPLES = `Examples:
  $ hooks test http://localhost:3000/webhook --secret s3cret
  $ hooks test http://localhost:3000/webhook --report r.xml -- node server.js
  $ hooks test http://localhost:3000/webhook --only unsigned,tampered -o json
  $ hooks test --list
`;

const DETAILS = `
Sends what the real sender sends (each type, signed; twice; anonymous; unicode;
32 KB), and what a forger would (unsigned, wrongly signed, tampered). What is
right must be answered with 2xx within the timeout, a forgery or what is no JSON
with 4xx: 2xx lets a forger in, 5xx is sent again for 4 hours. The messages are
marked as tests (hooks-test-…), but they are real: not for a receiver in use.

-- COMMAND starts the receiver, with the URL's port as PORT and the secret as
HOOKS_SECRET; shows what it prints on standard error, waits until it listens,
and stops it with all that it has started when the checks are made.

Ends with 0 when every check that was made passed, with 1 when one failed or the
receiver died, and with 2 when nothing could be tried: nobody is there, COMMAND
does not start, the port is taken by something else.
`;

export const defineTest: Define = (command, { io, exit }) => {
  addSecretFlags(
    command
      .argument('[url]', 'the receiver')
      .argument('[command...]', 'behind --: starts the receiver first, and stops it afterwards')
      .usage('<url> [options] [-- COMMAND…]'),
    'sign',
  )
    .option('--header <header>', "'Name: value' for every request (repeat)", collect)
    .option('--timeout <duration>', 'for one answer, 1ms to 30s (default: 5s)')
    .option('--ca <file>', 'a PEM file with issuers to trust too (default: delivery.ca of the config)')
    .option('--only <code,…>', 'only these checks (repeat)', collectCodes)
    .option('--skip <code,…>', 'all but these checks (repeat)', collectCodes)
    .option('--capture <file>', 'send the body of a capture too, signed anew (repeat)', collectGiven)
    .option('--list', 'show all checks, and make none')
    .option('--report <file>', 'write JUnit (.xml) or JSON (.json)')
    .option('--start-timeout <duration>', 'for COMMAND to listen (default: 30s)', timeFrom(1))
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', DETAILS)
    .action(async (url: string | undefined, words: readonly string[]) => {
      const options = command.optsWithGlobals<TestOptions>();
      if (options.list) return list(options, io);
      const { testReceiver } = await import('./run.ts');
      const { report, capture = [] } = options;
      const reported = { report, suite: 'hooks test', inputs: capture };
      const run = async (): Promise<ExitCode> => {
        if (url === undefined) throw noUrl();
        return testReceiver({ url, command: words }, options, io);
      };
      exit(await withFailureReport(reported, io, run));
    });
};

function list({ output }: TestOptions, { out }: Io): void {
  for (const { code, title, expects, needsSecret = false } of CHECKS) {
    if (output === 'json') out(jsonLine({ check: code, title, expects, needsSecret }));
    else out(`${code.padEnd(17)}  ${title}\n`);
  }
}

function noUrl(): ConfigError {
  return new ConfigError('Expected the URL of the receiver, got none', {
    key: 'url',
    hint: 'hooks test http://localhost:3000/webhook',
  });
}

function collectCodes(value: string, before: readonly string[] = []): readonly string[] {
  return [...before, ...value.split(',').map((code) => code.trim())];
}
