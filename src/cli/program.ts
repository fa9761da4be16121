import { Command, Option } from 'commander';
import { describe, type CommandContext, type Define } from './command.ts';
import { addHelpCommand, subcommandOf } from './help-command.ts';
import type { Io } from './io.ts';
import { explainUsageErrors } from './usage-errors.ts';
import { packageVersion } from '../app/version.ts';

interface Verb {
  readonly summary: string;
  /** Not for people: no help names it. */
  readonly isHidden?: true;
  readonly load: () => Promise<Define>;
}

/** One line a command. Only the module of the one that is run is loaded. */
const VERBS: Readonly<Record<string, Verb>> = {
  send: {
    summary: 'build one message, sign it and deliver it',
    load: async () => (await import('./send/command.ts')).defineSend,
  },
  replay: {
    summary: 'deliver the messages of files, in order',
    load: async () => (await import('./replay/command.ts')).defineReplay,
  },
  sign: {
    summary: 'print the signature of a body',
    load: async () => (await import('./sign/command.ts')).defineSign,
  },
  verify: {
    summary: 'check a signature, and say why it does not match',
    load: async () => (await import('./verify/command.ts')).defineVerify,
  },
  listen: {
    summary: 'receive, verify and show what arrives',
    load: async () => (await import('./listen/command.ts')).defineListen,
  },
  test: {
    summary: 'check that a receiver does what it must, and how to fix it',
    load: async () => (await import('./test/command.ts')).defineTest,
  },
  expect: {
    summary: 'run a command, and check what it sends',
    load: async () => (await import('./expect/command.ts')).defineExpect,
  },
  worker: {
    summary: 'deliver what waits in the durable queue',
    load: async () => (await import('./worker/command.ts')).defineWorker,
  },
  queue: {
    summary: 'look at waiting deliveries and dead letters, retry or drop them',
    load: async () => (await import('./queue/command.ts')).defineQueue,
  },
  serve: {
    summary: 'take calls of any SDK over HTTP, and deliver them',
    load: async () => (await import('./serve/command.ts')).defineServe,
  },
  delete: {
    summary: 'send a deletion request for users to every source',
    load: async () => (await import('./delete/command.ts')).defineDelete,
  },
  audience: {
    summary: 'send who joined and who left an audience since the last sync',
    load: async () => (await import('./audience/command.ts')).defineAudience,
  },
  trait: {
    summary: 'send the values of a computed trait that changed since the last sync',
    load: async () => (await import('./audience/trait-command.ts')).defineTrait,
  },
  doctor: {
    summary: 'find out why nothing arrives',
    load: async () => (await import('./doctor/command.ts')).defineDoctor,
  },
  init: {
    summary: 'write a config file to begin with',
    load: async () => (await import('./init/command.ts')).defineInit,
  },
  completion: {
    summary: 'print what makes a shell complete hooks by Tab',
    load: async () => (await import('./completion/command.ts')).defineCompletion,
  },
  complete: {
    summary: 'answer a shell',
    isHidden: true,
    load: async () => (await import('./completion/complete-command.ts')).defineComplete,
  },
  config: {
    summary: 'show every setting and where it came from',
    load: async () => (await import('./config/command.ts')).defineConfig,
  },
};

const EXAMPLES = `Examples:
  $ hooks send track --event Signup --url http://localhost:3000/webhook
  $ hooks replay fixtures/*.json --loopback
  $ hooks verify --secret s3cret < capture.json
  $ hooks listen --secret s3cret
`;

/** The program with its commands; those named in `argv` are complete, others a name and a line of help. */
export async function createProgram(
  argv: readonly string[],
  io: Io,
  exit: CommandContext['exit'],
): Promise<Command> {
  const program = new Command('hooks')
    .description('Send, sign, deliver, verify, replay and receive webhook events.')
    .version(packageVersion(), '--version', 'print the version')
    .addOption(
      new Option('-o, --output <format>', 'how results are printed')
        .choices(['text', 'json'])
        .default('text'),
    )
    .option('-q, --quiet', 'print errors only')
    .option('-v, --verbose', 'say more: bodies, the config file used, stack traces')
    .option('--no-color', 'no colours (NO_COLOR and FORCE_COLOR are respected too)')
    .option('-c, --config <file>', 'use this config file')
    .option('--no-config', 'use no config file')
    .helpOption('-h, --help', 'show help')
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true, visibleGlobalOptions: globalOptionsOf })
    .exitOverride();
  explainUsageErrors(program, io);
  program.addHelpText('before', EXAMPLES);
  for (const [name, verb] of verbsFor(argv)) await addVerb(program, name, verb, { argv, io, exit });
  addHelpCommand(program);
  // With --help behind it, commander would show the help of the whole program.
  const [first = '-'] = argv;
  if (!first.startsWith('-')) subcommandOf(program, first);
  return program;
}

/** The one that is named first; otherwise all, for help, suggestions and the answers to a shell. */
function verbsFor([first = '']: readonly string[]): readonly (readonly [name: string, verb: Verb])[] {
  const named = Object.hasOwn(VERBS, first) ? VERBS[first] : undefined;
  return named === undefined || named.isHidden ? Object.entries(VERBS) : [[first, named]];
}

async function addVerb(
  program: Command,
  name: string,
  { summary, isHidden, load }: Verb,
  context: CommandContext,
): Promise<void> {
  const command = describe(program.command(name, { hidden: isHidden === true }), summary);
  explainUsageErrors(command, context.io);
  if (!context.argv.includes(name)) return;
  const define = await load();
  define(command, context);
  for (const below of command.commands) explainUsageErrors(below, context.io);
  addHelpCommand(command);
}

/** Those of the program alone: else the types of `send` would list every flag of `send` again. */
function globalOptionsOf(command: Command): Option[] {
  let top = command;
  while (top.parent !== null) top = top.parent;
  return top === command ? [] : top.options.filter(({ hidden }) => !hidden);
}
