import type { Command } from 'commander';
import type { AudienceKind } from '../../../audience/sync.ts';
import { HELP, type CommandContext, type Define } from '../../command.ts';
import { addSettingFlags } from '../../flags/setting-flags.ts';
import { addWhereToFlags } from '../../flags/delivery/where-to-flags.ts';
import type { OverviewFlags, SyncFlags } from './options.ts';

interface SyncVerbTexts {
  readonly kind: AudienceKind;
  readonly examples: string;
  readonly details: string;
  readonly syncSummary: string;
  readonly syncExamples: string;
}

/**
 * Defines the subcommands of `hooks audience` or `hooks trait`. A subcommand loads its module when it runs, so that help
 * stays fast.
 */
export function defineVerbs({ kind, examples, details, ...words }: SyncVerbTexts): Define {
  return (command, context) => {
    command.enablePositionalOptions().addHelpText('before', examples).addHelpText('after', details);
    const sync = command
      .command(`sync <name> <${inputOf(kind)}>`)
      .summary(words.syncSummary)
      .addHelpText('before', words.syncExamples)
      .addHelpText('after', details);
    addSyncFlags(sync, kind);
    addWhereToFlags(sync);
    sync.action(async (name: string, file: string) => {
      const { syncFile } = await import('./run.ts');
      context.exit(await syncFile([name, file], { ...sync.optsWithGlobals<SyncFlags>(), kind }, context.io));
    });
    addOverviews(command, kind, context);
  };
}

/** Names the content of the file that `hooks audience sync` or `hooks trait sync` reads. */
function inputOf(kind: AudienceKind): string {
  return kind === 'trait' ? 'values' : 'members';
}

function addSyncFlags(command: Command, kind: AudienceKind): void {
  command
    .configureHelp(HELP)
    .optionsGroup('The file:')
    .option('--id-column <name>', "read the user's id from this column (default: userId)");
  if (kind === 'trait') {
    command
      .option('--value-column <name>', 'read the value from this column (default: value)')
      .option('--text', 'read CSV values as text, also 27.5 and true');
  }
  command
    .optionsGroup('How much may change:')
    .option('-n, --dry-run', 'print what would be sent, and send nothing')
    .option('--max-change <limit>', 'abort if more than this changes (20% or 500)')
    .option('--force', `send however much changes, even if the file has no ${inputOf(kind)}`);
}

function addOverviews(command: Command, kind: AudienceKind, { io, exit }: CommandContext): void {
  const what = kind === 'trait' ? 'computed traits' : 'audiences';
  const add = (usage: string, summary: string, examples: readonly string[]): Command => {
    const sub = command.command(usage).summary(summary);
    const lines = examples.map((example) => `  $ hooks ${kind} ${example}\n`);
    sub.addHelpText('before', `Examples:\n${lines.join('')}`);
    return addSettingFlags(sub, 'store').configureHelp(HELP);
  };
  const placeFlag = ['--place <place>', 'select the one that goes to this place (see list)'] as const;
  const flagsOf = (sub: Command): OverviewFlags => ({ ...sub.optsWithGlobals<OverviewFlags>(), kind });
  const list = add('list', `list ${what}, their destinations and last syncs`, ['list', 'list -o json']);
  list.action(async () => exit(await (await import('./overview.ts')).listAudiences(flagsOf(list), io)));
  const show = add('show <name>', 'show one by its name or the name of its trait', [
    'show VIP',
    'show VIP --members > members.ndjson',
  ])
    .option(...placeFlag)
    .option('--members', 'print the last state of each user as NDJSON');
  show.action(async (name: string) =>
    exit(await (await import('./overview.ts')).showAudience(name, flagsOf(show), io)),
  );
  const forget = add('forget <name>', 'forget what was sent; the next sync sends everything', [
    'forget VIP',
    'forget VIP --place loopback',
  ]).option(...placeFlag);
  forget.action(async (name: string) =>
    exit(await (await import('./overview.ts')).forgetAudience(name, flagsOf(forget), io)),
  );
}
