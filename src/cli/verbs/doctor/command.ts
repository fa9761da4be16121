import type { Define } from '../../command.ts';
import { addSettingFlags } from '../../flags/setting-flags.ts';
import { examine, type DoctorOptions } from './run.ts';

const EXAMPLES = `Examples:
  $ hooks doctor
  $ hooks doctor -c staging.yaml
  $ hooks doctor -o json | jq 'select(.status == "fail")'
`;

const DETAILS = `
Checks the config, its secrets, the queue and its file, and opens a connection
to each webhook (name lookup, connect, TLS) without sending a byte of a message.
Each line says what is wrong and how to fix it.

Exits with 0 when nothing has to be fixed, with 1 when something has.
`;

/** Defines `hooks doctor`, which changes nothing: it does not even create the queue's file. */
export const defineDoctor: Define = (command, { io, exit }) => {
  addSettingFlags(command, 'store', 'delivery.allowPrivate')
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', DETAILS)
    .action(async () => exit(await examine(command.optsWithGlobals<DoctorOptions>(), io)));
};
