import type { Define } from '../command.ts';
import { initialise, type InitOptions } from './run.ts';
import { addSecretFlags } from '../flags/signature/secret-flags.ts';
import { collect } from '../flags/flag-values.ts';

const EXAMPLES = `Examples:
  $ hooks init
  $ hooks init --url http://localhost:3000/webhook --secret s3cret
  $ hooks init staging.yaml --url https://staging.example/hook --force
`;

const DETAILS = `
Writes a config file with every setting explained, as comments where it is the
default. On a terminal it asks for what no flag says; elsewhere it asks nothing.

A secret is never written: the file refers to HOOKS_SECRET when a secret is
given or that variable is set. A --url may hold references too:
'https://\${HOOK_HOST}/hook'.
`;

export const defineInit: Define = (command, { io, exit }) => {
  command
    .argument('[file]', 'what to write, as YAML', '.hooksrc.yaml')
    .option(
      '--url <url>',
      'where messages are posted to (repeat: up to 5; default: http://localhost:3000/webhook)',
      collect,
    );
  addSecretFlags(command)
    .option('-y, --yes', 'ask nothing')
    .option('-f, --force', 'write over a file that is there')
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', DETAILS)
    .action(async (file: string) => {
      exit(await initialise(file, command.optsWithGlobals<InitOptions>(), io));
    });
};
