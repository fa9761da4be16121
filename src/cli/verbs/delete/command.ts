import { Option } from 'commander';
import type { Define } from '../../command.ts';
import { addSettingFlags } from '../../flags/setting-flags.ts';
import { requestDeletion, type DeleteOptions } from './run.ts';
import { collect, timeFrom } from '../../flags/flag-values.ts';

const EXAMPLES = `Examples:
  $ hooks delete u1 u2           # to every source with a destination enabled
  $ hooks delete u1 --source web # only to that source
  $ hooks delete u1 --queue      # do not wait; hooks worker delivers
  $ hooks delete - < users.txt   # many: one user id a line
  $ hooks delete u1 --dry-run    # say where it would go
`;

const DETAILS = `
Prints the state of each source on a line: delivered, failed (a dead letter),
pending (in the queue: hooks worker or hooks serve delivers it) or
no-destination. Other deliveries that wait for these destinations may be
delivered too. Exits with 0 when nothing failed.
`;

export const defineDelete: Define = (command, { io, exit }) => {
  addSettingFlags(command, 'store')
    .argument('<user-id...>', 'delete these users; - reads ids from stdin, one a line')
    .option('--source <name>', 'delete at this source only (repeat)', collect)
    .option('--queue', 'only queue it; do not wait for its delivery')
    .addOption(
      new Option('--retry-for <duration>', 'wait this long for its delivery')
        .argParser(timeFrom(0))
        .default(30_000, '30s'),
    )
    .option('-n, --dry-run', 'print where it would go, and send nothing')
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', DETAILS)
    .action(async (userIds: readonly string[]) =>
      exit(await requestDeletion({ ...command.optsWithGlobals<DeleteOptions>(), userIds }, io)),
    );
};
