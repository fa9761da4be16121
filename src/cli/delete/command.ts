import { Option } from 'commander';
import type { Define } from '../command.ts';
import { addStoreFlag } from '../flags/delivery/queue-flags.ts';
import { requestDeletion, type DeleteOptions } from './run.ts';
import { collect, timeFrom } from '../flags/flag-values.ts';

const EXAMPLES = `Examples:
  $ hooks delete u1 u2           # to every source with a destination enabled
  $ hooks delete u1 --source web # only to that source
  $ hooks delete u1 --queue      # do not wait; hooks worker delivers
  $ hooks delete - < users.txt   # many: one user id a line
  $ hooks delete u1 --dry-run    # say where it would go
`;

const DETAILS = `
One line a source says where it stands: delivered, failed (a dead letter),
pending (in the queue: hooks worker or hooks serve goes on with it) or
no-destination. What else waits for these destinations may be delivered
meanwhile. Exit code 0 when nothing failed.
`;

export const defineDelete: Define = (command, { io, exit }) => {
  addStoreFlag(command)
    .argument('<user-id...>', 'who is to be deleted; - reads user ids from stdin, one a line')
    .option('--source <name>', 'only this source (repeat for several)', collect)
    .option('--queue', 'only queue it; do not wait for its delivery')
    .addOption(
      new Option('--retry-for <duration>', 'wait for its delivery for so long')
        .argParser(timeFrom(0))
        .default(30_000, '30s'),
    )
    .option('--dry-run', 'send nothing; say where it would go')
    .addHelpText('before', EXAMPLES)
    .addHelpText('after', DETAILS)
    .action(async (userIds: readonly string[]) =>
      exit(await requestDeletion({ ...command.optsWithGlobals<DeleteOptions>(), userIds }, io)),
    );
};
