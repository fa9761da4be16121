import type { Command } from 'commander';
import { describe, type CommandContext, type Define } from '../command.ts';
import { addStoreFlag } from '../flags/delivery/queue-flags.ts';
import { given } from '../flags/flag-values.ts';
import { addSelectionFlags } from './selection.ts';
import type { MoveFlags } from './move.ts';
import type { RecoverFlags } from './recover.ts';
import type { QueueOptions } from './session.ts';

const EXAMPLES = `Examples:
  $ hooks queue stats                       # how much waits, or is dead
  $ hooks queue list --state dead --since 2h
  $ hooks queue show ID                     # with its body and every attempt
  $ hooks queue retry ID…                   # deliver dead letters again
  $ hooks queue retry --all --filter reason=exhausted
  $ hooks queue export --state dead > dead.ndjson   # for hooks replay
  $ hooks queue recover hooks.db --to new.db        # when the file is damaged
  $ hooks queue move --to redis://queue.internal:6379/0
`;

const DETAILS = `
All of it works while other processes deliver from the queue. --filter takes
the fields of the body (type=track, properties.plan=pro) and of the delivery:
id, messageId, source, destination, state, reason; state=delivered asks for
what --state delivered does. --since goes by when a delivery was added: a time
ago (2h), or a timestamp.

purge and vacuum give space back to the disk in steps. A file of version 0.1
cannot do that before its first vacuum, which writes it again as a whole: serve
and worker wait for it, and it takes as much room as is in use, twice.
`;

/** Loaded when it runs, so that help loads little. */
type Action = (words: readonly string[], options: QueueOptions, context: CommandContext) => Promise<void>;

export const defineQueue: Define = (command, context) => {
  command.enablePositionalOptions().addHelpText('before', EXAMPLES).addHelpText('after', DETAILS);
  const add = (usage: string, summary: string, action: Action): Command => {
    const sub = describe(command.command(usage), summary);
    addStoreFlag(sub).configureHelp({ showGlobalOptions: true });
    return sub.action(async (...words: unknown[]) => {
      const self = words.at(-1) as Command; // commander's last argument
      await action(self.args, self.optsWithGlobals<QueueOptions>(), context);
    });
  };
  addSelectionFlags(
    add('stats', 'count deliveries by destination and state', async (_, options, { io, exit }) => {
      const { stats } = await import('./show.ts');
      exit(await stats(options, io));
    }),
    { withStates: false },
  );
  addSelectionFlags(
    add('list', 'list waiting deliveries and dead letters', async (_, options, { io, exit }) => {
      const { listDeliveries } = await import('./show.ts');
      exit(await listDeliveries(options, io));
    }),
  );
  add(
    'show <id>',
    'show a delivery, its body and every attempt',
    async ([id = ''], options, { io, exit }) => {
      const { showDelivery } = await import('./show.ts');
      exit(await showDelivery(id, options, io));
    },
  );
  addSelectionFlags(
    add(
      'retry [ids...]',
      'deliver dead letters again, with a new retry window',
      async (ids, options, { io, exit }) => {
        const { retry } = await import('./change.ts');
        exit(await retry(ids, options, io));
      },
    ).option('--all', 'every dead letter that --filter and --since leave'),
    { withStates: false },
  );
  add('drop <ids...>', 'remove deliveries for good', async (ids, options, { io, exit }) => {
    const { drop } = await import('./change.ts');
    exit(await drop(ids, options, io));
  });
  addSelectionFlags(
    add('export', 'print bodies as NDJSON, for hooks replay', async (_, options, { io, exit }) => {
      const { exportBodies } = await import('./show.ts');
      exit(await exportBodies(options, io));
    }),
  );
  addSelectionFlags(
    add(
      'purge',
      'remove every dead letter for good, or what --state says',
      async (_, options, { io, exit }) => {
        const { purge } = await import('./change.ts');
        exit(await purge(options, io));
      },
    ),
  );
  add('vacuum', 'give the space of what was deleted back to the disk', async (_, options, { io, exit }) => {
    const { vacuum } = await import('./vacuum.ts');
    exit(await vacuum(options, io));
  });
  add('move', 'move what waits and what is dead to another store', async (_, options, { io, exit }) => {
    const { move } = await import('./move.ts');
    exit(await move(options as MoveFlags, io)); // `--to` is mandatory
  }).requiredOption('--to <url>', 'where to: sqlite:FILE, redis://…, postgres://…', given);
  // Not of a store that is in use: it names its file itself.
  describe(command.command('recover <file>'), 'copy what can be read of a damaged file to a new one')
    .configureHelp({ showGlobalOptions: true })
    .requiredOption('--to <file>', 'the new file', given)
    .action(async (file: string, _, self: Command) => {
      const { recover } = await import('./recover.ts');
      context.exit(await recover(file, self.optsWithGlobals<RecoverFlags>(), context.io));
    });
};
