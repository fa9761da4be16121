import { Option, type Command } from 'commander';
import type { Define } from '../../command.ts';
import { collect, collectGiven } from '../../flags/flag-values.ts';
import { addSchemeFlag } from '../../flags/signature/scheme-flags.ts';
import { addSecretFlags } from '../../flags/signature/secret-flags.ts';
import { verifyFiles } from './run.ts';

const EXAMPLES = `Examples:
  $ hooks verify --secret s3cret < capture.json
  $ hooks verify --secret s3cret --signature "$HTTP_X_SIGNATURE" body.json
  $ hooks verify --secret s3cret captures/*.json
  $ hooks verify --secret new --secret old -o json < request.http
  $ hooks verify --secret s3cret body.json \\
      -H "$(hooks sign --secret s3cret --scheme github body.json)"
`;

export const defineVerify: Define = (command, context) => {
  command
    .argument('[files...]', 'read bodies, captures, HTTP requests; - is standard input', collectGiven)
    .option('--signature <hex>', 'verify this (HOOKS_SIGNATURE), not that of the input')
    .addOption(
      new Option('--format <format>', 'set the format of the input (default: by its content)').choices([
        'raw',
        'capture',
        'http',
      ]),
    )
    .option('-H, --header <header>', "add 'Name: value' to a raw body (repeat)", collect)
    .option('--ignore-timestamp', 'accept a signature of any age')
    .option('--exact', 'accept only the exact bytes, not the JSON-stringified body')
    .action(async (files: readonly string[], _flags: unknown, self: Command) => {
      await verifyFiles(files, self.optsWithGlobals(), context);
    })
    .addHelpText('before', EXAMPLES);
  addSchemeFlag(addSecretFlags(command, 'verify'), 'accept these signature schemes (default: any)');
};
