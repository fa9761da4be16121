import type { Command } from 'commander';
import type { Define } from '../../command.ts';
import { given } from '../../flags/flag-values.ts';
import type { BodySource } from '../../flags/signature/body-input.ts';
import { addSchemeFlag } from '../../flags/signature/scheme-flags.ts';
import { addSecretFlags } from '../../flags/signature/secret-flags.ts';
import { signFile } from './run.ts';

const EXAMPLES = `Examples:
  $ hooks sign --secret s3cret < body.json
  $ curl -H "$(hooks sign --secret s3cret --as-header body.json)" \\
      -H 'Content-Type: application/json' --data-binary @body.json \\
      http://localhost:3000/webhook
  $ hooks sign --secret s3cret --scheme slack body.json | curl -H @- \\
      -H 'Content-Type: application/json' --data-binary @body.json \\
      http://localhost:3000/webhook
  $ hooks sign --secret-file secret.txt --stringify body.json
`;

export const defineSign: Define = (command, context) => {
  command
    .argument('[file]', 'read the body from this file, or from standard input (-)', given)
    .option('--stringify', 'sign the JSON-stringified body, as send does')
    .option('--as-header', 'print the whole header, X-Signature: HEX')
    .option('--id <id>', 'sign this message id (default: a new one)', given)
    .option('--timestamp <time>', 'sign this time, in Unix seconds (default: now)', given)
    .action(async (file: BodySource, _flags: unknown, self: Command) => {
      await signFile(file, self.optsWithGlobals(), context);
    })
    .addHelpText('before', EXAMPLES);
  addSchemeFlag(addSecretFlags(command, 'sign'), 'print the headers of these schemes (default: segment)');
};
