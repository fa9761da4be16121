import { Option } from 'commander';
import type { Define } from '../../command.ts';
import { INIT_PURPOSES } from './questions.ts';
import { initialize, type InitOptions } from './run.ts';
import { addSecretFlags } from '../../flags/signature/secret-flags.ts';
import { collectUrl } from '../../flags/short-url.ts';

const EXAMPLES = `Examples:
  $ hooks init
  $ hooks init --url http://localhost:3000/webhook --secret s3cret
  $ hooks init --for service https://a.example/hook https://b.example/hook
  $ hooks init staging.yaml --url https://staging.example/hook --force
`;

const DETAILS = `
Writes a config file with every setting explained, as comments where it is the
default. On a terminal it asks for what no flag gives; elsewhere it asks
nothing, and without a URL the file has http://localhost:3000/webhook. A URL may
stand without --url.

--for receiver (the default) is for send, listen and verify; ci is for test and
replay, with a retry window of 10 s; service is for serve, with a new write key.

A secret is never written: the file refers to HOOKS_SECRET when a secret is
given or that variable is set. A --url may hold references too:
'https://\${HOOK_HOST}/hook'.
`;

export const defineInit: Define = (command, { io, exit }) => {
  command
    .argument('[file-or-url...]', 'write this YAML file (default: .hooksrc.yaml), or URLs')
    .addOption(new Option('--for <purpose>', 'choose what it is for').choices(INIT_PURPOSES))
    .option('--url <url>', 'post messages to this URL (repeat: up to 5)', collectUrl);
  addSecretFlags(command)
    .option('-y, --yes', 'ask nothing')
    .option('-f, --force', 'overwrite an existing file')
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', DETAILS)
    .action(async (words: readonly string[]) => {
      exit(await initialize(words, command.optsWithGlobals<InitOptions>(), io));
    });
};
