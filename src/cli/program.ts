import { Command, Option } from 'commander';
import type { CommandContext, Define } from './command.ts';
import type { Io } from './io.ts';
import { explainUsageErrors } from './usage-errors.ts';
import { packageVersion } from '../pipeline/version.ts';

interface Verb {
  readonly summary: string;
  readonly load: () => Promise<{ readonly define: Define }>;
}

/** One line a command. Only the module of the one that is run is loaded. */
const VERBS: Readonly<Record<string, Verb>> = {
  send: { summary: 'build one message, sign it and deliver it', load: () => import('./commands/send.ts') },
  replay: { summary: 'deliver the messages of files, in order', load: () => import('./commands/replay.ts') },
  sign: { summary: 'print the signature of a body', load: () => import('./commands/sign.ts') },
  verify: {
    summary: 'check a signature, and say why it does not match',
    load: () => import('./commands/verify.ts'),
  },
  listen: { summary: 'receive, verify and show what arrives', load: () => import('./commands/listen.ts') },
  worker: { summary: 'deliver what waits in the durable queue', load: () => import('./commands/worker.ts') },
  queue: {
    summary: 'look at waiting deliveries and dead letters, retry or drop them',
    load: () => import('./commands/queue.ts'),
  },
  serve: {
    summary: 'take calls of any SDK over HTTP, and deliver them',
    load: () => import('./commands/serve.ts'),
  },
  delete: {
    summary: 'send a deletion request for users to every source',
    load: () => import('./commands/delete.ts'),
  },
  config: {
    summary: 'show every setting and where it came from',
    load: () => import('./commands/config.ts'),
  },
};

const EXAMPLES = `Examples:
  $ hooks send track --event Signup --url http://localhost:3000/webhook
  $ hooks replay fixtures/*.json --loopback
  $ hooks verify --secret s3cret < capture.json
  $ hooks listen --secret s3cret
`;

/** The program with its commands; the one named in `argv` is complete, the others are a name and a line of help. */
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
    .helpCommand('help [command]', 'show help of a command')
    .showSuggestionAfterError()
    .configureHelp({ showGlobalOptions: true, visibleGlobalOptions: globalOptionsOf })
    .exitOverride();
  explainUsageErrors(program, io);
  program.addHelpText('before', EXAMPLES);
  for (const [name, verb] of Object.entries(VERBS)) await addVerb(program, name, verb, { argv, io, exit });
  return program;
}

async function addVerb(
  program: Command,
  name: string,
  { summary, load }: Verb,
  { argv, ...context }: CommandContext & { argv: readonly string[] },
): Promise<void> {
  const command = program.command(name).summary(summary).description(sentence(summary));
  explainUsageErrors(command, context.io);
  if (!argv.includes(name)) return;
  const { define } = await load();
  define(command, context);
}

function sentence(summary: string): string {
  return `${summary.charAt(0).toUpperCase()}${summary.slice(1)}.`;
}

/** Those of the program alone: else the types of `send` would list every flag of `send` again. */
function globalOptionsOf(command: Command): Option[] {
  let top = command;
  while (top.parent !== null) top = top.parent;
  return top === command ? [] : top.options.filter(({ hidden }) => !hidden);
}
