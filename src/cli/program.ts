import type { EventEmitter } from 'node:events';
import { Command, Option } from 'commander';
import { HELP, type CommandContext, type Define } from './command.ts';
import { GUIDES, type GuideName } from './help/guide.ts';
import { addHelpCommand, subcommandOf } from './help/help-command.ts';
import { DEFAULT_COLUMNS, wrapText } from './fit-text.ts';
import type { Io } from './io.ts';
import { explainUsageErrors } from './usage-errors.ts';
import type { VerbName } from './program-name.ts';
import { PACKAGE_VERSION } from '../app/version.ts';

interface Verb {
  /** Heading under which the help lists the command; undefined if no help lists it. */
  readonly group?: 'Send:' | 'Receive and verify:' | 'Test:' | 'Operate:' | 'Set up:';
  readonly summary: string;
  /** The page of docs/ that the command's help names. */
  readonly guide?: GuideName;
  readonly load: () => Promise<Define>;
}

/** Modules that define two commands each. */
const audienceVerbs = () => import('./verbs/audience/command.ts');
const completionVerbs = () => import('./verbs/completion/command.ts');

/** The commands, in the order of the help. Only the module of the command that runs is loaded. */
const VERBS: Readonly<Record<VerbName | 'complete', Verb>> = {
  send: {
    group: 'Send:',
    summary: 'build, sign and deliver one message',
    guide: 'sending',
    load: async () => (await import('./verbs/send/command.ts')).defineSend,
  },
  replay: {
    group: 'Send:',
    summary: 'deliver the messages of files in order',
    guide: 'sending',
    load: async () => (await import('./verbs/replay/command.ts')).defineReplay,
  },
  audience: {
    group: 'Send:',
    summary: 'send who joined or left an audience since the last sync',
    guide: 'audiences',
    load: async () => (await audienceVerbs()).defineAudience,
  },
  trait: {
    group: 'Send:',
    summary: 'send the computed traits that changed since the last sync',
    guide: 'audiences',
    load: async () => (await audienceVerbs()).defineTrait,
  },
  delete: {
    group: 'Send:',
    summary: 'send a deletion request for users to every source',
    guide: 'audiences',
    load: async () => (await import('./verbs/delete/command.ts')).defineDelete,
  },
  listen: {
    group: 'Receive and verify:',
    summary: 'receive, verify and show requests',
    guide: 'receivers',
    load: async () => (await import('./verbs/listen/command.ts')).defineListen,
  },
  verify: {
    group: 'Receive and verify:',
    summary: 'check a signature and explain a mismatch',
    guide: 'receivers',
    load: async () => (await import('./verbs/verify/command.ts')).defineVerify,
  },
  sign: {
    group: 'Receive and verify:',
    summary: 'print the signature of a body',
    guide: 'sending',
    load: async () => (await import('./verbs/sign/command.ts')).defineSign,
  },
  import: {
    group: 'Receive and verify:',
    summary: 'save the requests of a HAR file, curl or a log as captures',
    guide: 'captures',
    load: async () => (await import('./verbs/import/command.ts')).defineImport,
  },
  redact: {
    group: 'Receive and verify:',
    summary: 'replace personal data in captures, and sign them again',
    guide: 'captures',
    load: async () => (await import('./verbs/redact/command.ts')).defineRedact,
  },
  test: {
    group: 'Test:',
    summary: 'check a receiver and explain how to fix it',
    guide: 'receivers',
    load: async () => (await import('./verbs/test-receiver/command.ts')).defineTest,
  },
  expect: {
    group: 'Test:',
    summary: 'run a command and check what it sends',
    guide: 'testing',
    load: async () => (await import('./verbs/expect/command.ts')).defineExpect,
  },
  plan: {
    group: 'Test:',
    summary: 'check messages against a tracking plan',
    guide: 'plans',
    load: async () => (await import('./verbs/plan/command.ts')).definePlan,
  },
  serve: {
    group: 'Operate:',
    summary: 'run a Segment-compatible tracking API',
    guide: 'serve',
    load: async () => (await import('./verbs/serve/command.ts')).defineServe,
  },
  worker: {
    group: 'Operate:',
    summary: 'deliver the messages of the durable queue',
    guide: 'several-machines',
    load: async () => (await import('./verbs/worker/command.ts')).defineWorker,
  },
  queue: {
    group: 'Operate:',
    summary: 'inspect, retry or drop queued deliveries and dead letters',
    guide: 'operations',
    load: async () => (await import('./verbs/queue/command.ts')).defineQueue,
  },
  doctor: {
    group: 'Operate:',
    summary: 'find out why nothing arrives',
    guide: 'troubleshooting',
    load: async () => (await import('./verbs/doctor/command.ts')).defineDoctor,
  },
  init: {
    group: 'Set up:',
    summary: 'write a commented config file',
    guide: 'configuration',
    load: async () => (await import('./verbs/init/command.ts')).defineInit,
  },
  config: {
    group: 'Set up:',
    summary: 'show every setting and its origin',
    guide: 'configuration',
    load: async () => (await import('./verbs/config/command.ts')).defineConfig,
  },
  completion: {
    group: 'Set up:',
    summary: 'print a shell completion script',
    load: async () => (await completionVerbs()).defineCompletion,
  },
  complete: {
    summary: 'list what a word could become, for a shell',
    load: async () => (await completionVerbs()).defineComplete,
  },
};

const EXAMPLES = `Examples:
  $ hooks listen # shows requests at port 8787; send from a second terminal:
  $ hooks send track --event Signup --url http://localhost:8787
  $ hooks replay fixtures/*.json --loopback
  $ hooks verify --secret s3cret < capture.json
`;

/** Creates the program. A command that `argv` names is complete; any other has only its name and its line of help. */
export async function createProgram(
  argv: readonly string[],
  io: Io,
  exit: CommandContext['exit'],
): Promise<Command> {
  const program = new Command('hooks')
    .description('Send, sign, deliver, verify, replay and receive webhook events.')
    .version(PACKAGE_VERSION, '--version', 'print the version')
    .addOption(
      new Option('-o, --output <format>', 'set the format of results')
        .choices(['text', 'json'])
        .default('text'),
    )
    .option('-q, --quiet', 'print errors only')
    .option('-v, --verbose', 'print bodies, the config file used and stack traces too')
    .option('--no-color', 'print no colors (also: NO_COLOR, FORCE_COLOR)')
    .option('-c, --config <file>', 'use this config file')
    .option('--no-config', 'ignore config files')
    .helpOption('-h, --help', 'show help')
    .showSuggestionAfterError()
    .configureHelp({ ...HELP, visibleGlobalOptions: globalOptionsOf })
    .exitOverride();
  explainUsageErrors(program, io);
  program.addHelpText('before', EXAMPLES);
  program.addHelpText('after', topicsLine);
  const verbs = verbsFor(argv);
  for (const [name, verb] of verbs) await addVerb(program, name, verb, { argv, io, exit });
  if (verbs.length === 1) return program.helpCommand(false);
  addHelpCommand(program, io);
  program.commands.at(-1)?.helpGroup('Set up:');
  // Rejects a mistyped command here: for `hooks snd --help`, commander would print the help of the whole program.
  const [first = '-'] = argv;
  if (!first.startsWith('-')) subcommandOf(program, first);
  return program;
}

/** Returns the command that the first word names, or all commands, for help, suggestions and completions. */
function verbsFor([first = '']: readonly string[]): readonly (readonly [name: string, verb: Verb])[] {
  const verbs: Readonly<Record<string, Verb>> = VERBS;
  const named = Object.hasOwn(verbs, first) ? verbs[first] : undefined;
  return named?.group === undefined ? Object.entries(verbs) : [[first, named]];
}

async function addVerb(
  program: Command,
  name: string,
  { group, summary, guide, load }: Verb,
  context: CommandContext,
): Promise<void> {
  const command = program.command(name, { hidden: group === undefined }).summary(summary);
  if (group !== undefined) command.helpGroup(group);
  explainUsageErrors(command, context.io);
  if (!context.argv.includes(name)) return;
  const define = await load();
  define(command, context);
  if (guide !== undefined) command.addHelpText('afterAll', (shown) => guideLine(shown.command, guide));
  for (const below of command.commands) explainUsageErrors(below, context.io);
  if (command.commands.length > 0) addHelpCommand(command, context.io);
}

/** Returns the options of the program itself. Those of a parent are not global: `send track` repeats the flags of `send`. */
function globalOptionsOf(command: Command): Option[] {
  let top = command;
  while (top.parent !== null) top = top.parent;
  return top === command ? [] : top.options.filter(({ hidden }) => !hidden);
}

/** Returns the lines that name all guides. */
function topicsLine(): string {
  return wrapText(`\nTopics of hooks help TOPIC: ${GUIDES.join(', ')}`, DEFAULT_COLUMNS, 0);
}

/** Returns the line that names a guide, after an empty line unless a text below the flags already ends with one. */
function guideLine(command: Command, guide: GuideName): string {
  const emitter = command as Command & EventEmitter; // commander's types leave this out
  return `${emitter.listenerCount('afterHelp') > 0 ? '' : '\n'}Guide: hooks help ${guide}`;
}
