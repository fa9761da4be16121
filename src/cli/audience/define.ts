import type { Command } from 'commander';
import type { AudienceKind } from '../../audience/store.ts';
import { describe, type CommandContext, type Define } from '../command.ts';
import { addStoreFlag } from '../flags/delivery/queue-flags.ts';
import { addWhereToFlags } from '../flags/delivery/where-to-flags.ts';
import type { OverviewFlags, SyncFlags } from './options.ts';

interface Words {
  readonly kind: AudienceKind;
  readonly examples: string;
  readonly details: string;
  readonly syncUsage: string;
  readonly syncSummary: string;
  readonly syncExamples: string;
}

/** `hooks audience` and `hooks trait`: the same verbs. What a verb needs is loaded when it runs, so that help loads little. */
export function defineVerbs({ kind, examples, details, ...words }: Words): Define {
  return (command, context) => {
    command.enablePositionalOptions().addHelpText('before', examples).addHelpText('after', details);
    const sync = describe(command.command(words.syncUsage), words.syncSummary)
      .addHelpText('before', words.syncExamples)
      .addHelpText('after', details);
    addSyncFlags(sync, kind);
    addWhereToFlags(sync);
    sync.action(async (name: string, file: string) => {
      const { syncFile } = await import('./sync.ts');
      context.exit(await syncFile([name, file], { ...sync.optsWithGlobals<SyncFlags>(), kind }, context.io));
    });
    addOverviews(command, kind, context);
  };
}

function addSyncFlags(command: Command, kind: AudienceKind): void {
  const what = kind === 'trait' ? 'values' : 'members';
  command
    .configureHelp({ showGlobalOptions: true })
    .optionsGroup('The file:')
    .option('--id-column <name>', "the column or field with the user's id (default: userId)");
  if (kind === 'trait') {
    command
      .option('--value-column <name>', 'the column or field with the value (default: value)')
      .option('--text', 'values in CSV are texts, also 27.5 and true');
  }
  command
    .optionsGroup('How much may change:')
    .option('--dry-run', 'send nothing; say what would be sent')
    .option('--max-change <limit>', 'refuse when more change than 20%, or than 500 users')
    .option('--force', `send whatever the difference is, also when the file has no ${what}`);
}

function addOverviews(command: Command, kind: AudienceKind, { io, exit }: CommandContext): void {
  const what = kind === 'trait' ? 'computed traits' : 'audiences';
  const add = (usage: string, summary: string, examples: readonly string[]): Command => {
    const sub = describe(command.command(usage), summary);
    const lines = examples.map((example) => `  $ hooks ${kind} ${example}\n`);
    sub.addHelpText('before', `Examples:\n${lines.join('')}`);
    return addStoreFlag(sub).configureHelp({ showGlobalOptions: true });
  };
  const flagsOf = (sub: Command): OverviewFlags => ({ ...sub.optsWithGlobals<OverviewFlags>(), kind });
  const list = add('list', `list ${what}, where they go, and when they were synced`, [
    'list',
    'list -o json',
  ]);
  list.action(async () => exit(await (await import('./overview.ts')).listAudiences(flagsOf(list), io)));
  const show = add('show <name>', 'show one, by its name or the name of its trait', [
    'show VIP',
    'show VIP --members > told.ndjson',
  ])
    .option('--place <place>', 'only the one that goes there, as list shows it')
    .option('--members', 'print who was told what last, as NDJSON');
  show.action(async (name: string) =>
    exit(await (await import('./overview.ts')).showAudience(name, flagsOf(show), io)),
  );
  const forget = add('forget <name>', 'forget what was told; the next sync is a first one', [
    'forget VIP',
    'forget VIP --place loopback',
  ]).option('--place <place>', 'only the one that goes there, as list shows it');
  forget.action(async (name: string) =>
    exit(await (await import('./overview.ts')).forget(name, flagsOf(forget), io)),
  );
}
