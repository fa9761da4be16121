import type { Command } from 'commander';
import { HELP, type CommandContext, type Define } from '../../command.ts';
import type { ExitCode } from '../../exit-code.ts';
import type { Io } from '../../io.ts';
import { addSettingFlags } from '../../flags/setting-flags.ts';
import { countFrom, given } from '../../flags/flag-values.ts';
import { addSelectionFlags } from './selection.ts';
import type { MoveFlags } from './transfer/move-queue.ts';
import type { RecoverFlags } from './recover-store.ts';
import type { QueueOptions } from './run.ts';

/** Examples in the help of each subcommand. The help of `hooks queue` prints all of them. */
const EXAMPLES = {
  stats: ['stats                       # count waiting and dead deliveries'],
  list: ['list --state dead --newer-than 2h'],
  show: ['show ID                     # with its body and every attempt'],
  retry: [
    'retry ID…                   # deliver dead letters again',
    'retry --all --filter reason=exhausted --yes',
    'retry --now                 # do not wait for the next round',
    'retry --all --filter destination=Old --to Webhooks --yes',
  ],
  drop: ['drop ID…                    # remove deliveries for good'],
  purge: ['purge --older-than 30d --yes # remove old dead letters'],
  export: [
    'export --state dead > dead.ndjson   # for hooks replay',
    'export --deliveries > all.ndjson    # for hooks queue import',
  ],
  import: ['import all.ndjson           # the same deliveries again'],
  backup: ['backup copy.db              # while it is in use'],
  vacuum: ['vacuum                      # give space back to the disk'],
  recover: ['recover hooks.db --to new.db        # when the file is damaged'],
  adopt: ['adopt                       # after the config was moved'],
  move: ['move --to redis://queue.internal:6379/0'],
} satisfies Readonly<Record<string, readonly string[]>>;

type QueueVerb = keyof typeof EXAMPLES;

function examplesText(lines: readonly string[]): string {
  return `Examples:\n${lines.map((line) => `  $ hooks queue ${line}\n`).join('')}`;
}

const DETAILS = `
Other processes may keep delivering from the queue. The default of --store is
the store of the config, or hooks.db in the data folder. --filter matches fields
of the body (type=track, properties.plan=pro) and of the delivery: id,
messageId, source, destination, state, reason; state=delivered is the same as
--state delivered. --older-than and --newer-than select by the time at which a
delivery was added: an age (2h), or a timestamp. An id may be shortened to a
unique beginning or end; a terminal shows the ends.

export prints bodies: hooks replay sends each to all destinations of its source,
as a new message. export --deliveries prints deliveries: import adds them to a
queue with the same id, destination and message id, each id once.

retry delivers a dead letter of reason unplanned without checking it with the
tracking plan again, unless its client has sent the message again meanwhile.
retry --to NAME delivers to another destination of the source, for example
after a destination was renamed.

serve, worker, send --queue and the like, and retry, drop, purge and move reject
a queue in the data folder that belongs to another config. After a move of the
config, run adopt.

drop --all also removes deliveries that still wait; purge removes dead letters.
Both and retry --all ask before they change deliveries. Without a
terminal they need --yes.

purge and vacuum give space back to the disk in steps, between the writes of
serve and worker.
`;

/** Runs a subcommand. Imports its module only then, so that help starts fast. */
type Action = (words: readonly string[], options: QueueOptions, io: Io) => Promise<ExitCode>;

/** Adds a subcommand of `hooks queue`. */
type Add = (usage: Usage, summary: string, action: Action) => Command;
type Usage = QueueVerb | `${QueueVerb} ${string}`;

export const defineQueue: Define = (command, context) => {
  command
    .enablePositionalOptions()
    .addHelpText('before', examplesText(Object.values(EXAMPLES).flat()))
    .addHelpText('after', DETAILS);
  const add: Add = (usage, summary, action) => {
    const sub = addSettingFlags(addVerb(command, usage, summary), 'store');
    return sub.action(async (...words: unknown[]) => {
      const self = words.at(-1) as Command; // commander's last argument
      context.exit(await action(self.args, self.optsWithGlobals<QueueOptions>(), context.io));
    });
  };
  addReadingVerbs(add);
  addChangingVerbs(add);
  addStoreCommands(add);
  addRecover(command, context);
};

function addVerb(command: Command, usage: Usage, summary: string): Command {
  const [verb] = usage.split(' ', 1) as [QueueVerb]; // as the type says
  return command
    .command(usage)
    .summary(summary)
    .addHelpText('before', examplesText(EXAMPLES[verb]))
    .configureHelp(HELP);
}

/** Adds the subcommands that show deliveries. */
function addReadingVerbs(add: Add): void {
  const stats = add('stats', 'count deliveries by destination and state', async (_, options, io) =>
    (await import('./show-stats.ts')).showStats(options, io),
  );
  addSelectionFlags(stats, { withStates: false });
  const list = add('list', 'list waiting deliveries and dead letters', async (_, options, io) =>
    (await import('./show-deliveries.ts')).listDeliveries(options, io),
  );
  addSelectionFlags(list.option('--limit <n>', 'list at most n (default: 50 at a terminal)', countFrom(1)));
  add('show <id>', 'show a delivery, its body and every attempt', async ([id = ''], options, io) =>
    (await import('./show-deliveries.ts')).showDelivery(id, options, io),
  );
}

/** Adds the subcommands that change deliveries, and `export`, which saves deliveries before a purge. */
function addChangingVerbs(add: Add): void {
  const retrySummary = 'deliver dead letters again, with a new retry window';
  const retry = add('retry [ids...]', retrySummary, async (ids, options, io) =>
    (await import('./retry-deliveries.ts')).retryDeliveries(ids, options, io),
  )
    .option('--all', 'retry all dead letters, or those that the flags below select')
    .option('--to <destination>', 'deliver them to this destination of their source', given)
    .option('--now', 'make deliveries that wait for a retry due now instead');
  addConfirmationFlags(addSelectionFlags(retry, { withStates: false }));
  const drop = add('drop [ids...]', 'remove deliveries for good', async (ids, options, io) =>
    (await import('./remove-deliveries.ts')).dropDeliveries(ids, options, io),
  ).option('--all', 'drop all, also waiting ones, or what the flags below select');
  addConfirmationFlags(addSelectionFlags(drop));
  const printing = add('export', 'print bodies or deliveries as NDJSON', async (_, options, io) =>
    (await import('./show-deliveries.ts')).exportDeliveries(options, io),
  ).option('--deliveries', 'print whole deliveries, for hooks queue import');
  addSelectionFlags(printing);
  add('import <files...>', 'add deliveries of export --deliveries', async (files, options, io) =>
    (await import('./transfer/import-deliveries.ts')).importDeliveries(files, options, io),
  );
  const purgeSummary = 'remove all dead letters, or the states of --state, for good';
  const purge = add('purge', purgeSummary, async (_, options, io) =>
    (await import('./remove-deliveries.ts')).purgeDeliveries(options, io),
  );
  addConfirmationFlags(addSelectionFlags(purge));
}

function addConfirmationFlags(command: Command): void {
  command
    .option('-y, --yes', 'do not ask for confirmation')
    .option('--dry-run', 'print how many deliveries would change, and change none');
}

/** Adds the subcommands for the whole store. */
function addStoreCommands(add: Add): void {
  add('backup <file>', 'copy the queue file while it is in use', async ([file = ''], options, io) =>
    (await import('./queue-file.ts')).backUpStore(given(file), options, io),
  );
  add('vacuum', 'give freed space back to the disk', async (_, options, io) =>
    (await import('./queue-file.ts')).vacuumStore(options, io),
  );
  add('adopt', 'make the queue belong to this config', async (_, options, io) =>
    (await import('./queue-file.ts')).adoptQueue(options, io),
  );
  const moveSummary = 'move waiting deliveries and dead letters to another store';
  add('move', moveSummary, async (_, options, io) => {
    const { moveQueue } = await import('./transfer/move-queue.ts');
    return moveQueue(options as MoveFlags, io); // `--to` is mandatory
  }).requiredOption('--to <url>', 'move to sqlite:FILE, redis://… or postgres://…', given);
}

/** Adds `recover`, which has no --store, because its file is an argument and not in use. */
function addRecover(command: Command, context: CommandContext): void {
  addVerb(command, 'recover <file>', 'copy the readable part of a damaged file to a new one')
    .requiredOption('--to <file>', 'write to this new file', given)
    .action(async (file: string, _, self: Command) => {
      const { recoverStore } = await import('./recover-store.ts');
      context.exit(await recoverStore(file, self.optsWithGlobals<RecoverFlags>(), context.io));
    });
}
