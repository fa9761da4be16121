import type { Define } from '../../command.ts';
import { given } from '../../flags/flag-values.ts';
import type { ImportFlags } from './run.ts';

const EXAMPLES = `Examples:
  $ hooks import recorded.har --to captures # requests of a browser or a proxy
  $ hooks import copied.sh --to captures    # requests copied as curl
  $ hooks import - --to captures < requests.log # requests that a program logged
  $ hooks replay 'captures/*.json' --exact --url http://localhost:3000
`;

const DETAILS = `
Writes a capture for each request with a body, as hooks listen --save does, with
the exact bytes of the body; Authorization and Cookie are masked. FILES are HAR
files, curl commands (of bash or cmd.exe, never executed), raw HTTP requests, or
JSON in which requests are objects with a method, headers and a body, such as
the logs of ngrok, webhook.site, Hookdeck or Lambda, also one a line; - is
standard input; gzipped or not. A file that a curl command names after @ is read
if it is in the folder of the input.

A request whose exact bytes are not in the file is rejected with the reason, for
example if its text is shorter than its Content-Length. Exits with 0 if none was
rejected, with 1 if one was, and with 2 if a file cannot be read or no file has
a request with a body.
`;

export const defineImport: Define = (command, { io, exit }) => {
  command
    .argument('<files...>', 'read these files and globs; - is standard input')
    .requiredOption('--to <folder>', 'write captures to this folder', given)
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', DETAILS)
    .action(async (files: readonly string[]) => {
      const { importFiles } = await import('./run.ts');
      exit(await importFiles(files, command.optsWithGlobals<ImportFlags>(), io));
    });
};
