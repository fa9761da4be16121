import type { Define } from '../../command.ts';
import { collectGiven, given } from '../../flags/flag-values.ts';
import { addSecretFlags } from '../../flags/signature/secret-flags.ts';
import type { RedactFlags } from './redact-flags.ts';

const EXAMPLES = `Examples:
  $ hooks redact 'captures/*.json' --to fixtures/redacted
  $ hooks redact recorded.har --to shared --key-file team.key
  $ hooks redact events.ndjson --to shared --keep traits.plan --drop '**.notes'
  $ hooks redact 'fixtures/captures/*.json' --check # in CI
`;

const DETAILS = `
Replaces personal data by pseudonyms: the same person has the same pseudonym in
every file, and JSON types and formats stay. Recognizes it by the names of keys
and by formats, in bodies, URLs, headers and texts. Secrets, tokens and cookies
always go. Signs each request again by the schemes of its signature, with
--secret or the public secret of the fixtures, hooks-fixture-secret.

FILES are captures, what hooks import reads (HAR, curl, logs), or files of
messages, which become NDJSON. --keep and --drop take paths as filters do:
traits.plan, **.email. Without --key-file, the key is a file in the data folder.

Names in free text are beyond rules: the end lists the fields to review. A
request that cannot be redacted safely, such as one with a plain text body, is
rejected with the reason. Exits with 0 if none was rejected, with 1 if one was
or if --check found personal data, and with 2 if a file cannot be read.
`;

export const defineRedact: Define = (command, { io, exit }) => {
  command
    .argument('<files...>', 'read these files and globs; - is standard input')
    .option('--to <folder>', 'write the redacted requests to this folder', given)
    .option('--check', 'write nothing; exit with 1 if there is personal data')
    .option('--keep <path>', 'keep the values at this path (repeat)', collectGiven)
    .option('--drop <path>', 'remove the values at this path (repeat)', collectGiven)
    .option('--key-file <file>', 'make pseudonyms with the key in this file', given)
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', DETAILS)
    .action(async (files: readonly string[]) => {
      const { redactFiles } = await import('./run.ts');
      exit(await redactFiles(files, command.optsWithGlobals<RedactFlags>(), io));
    });
  addSecretFlags(command, 'sign');
};
