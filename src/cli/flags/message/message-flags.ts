import { Option, type Command } from 'commander';
import { ConfigError, ValidationError } from '../../../errors.ts';
import type { MessageType } from '../../../message/types.ts';
import { collect, given as notEmpty } from '../flag-values.ts';

/** The flags of `send` about the message itself, as commander names them. */
export interface MessageFlags {
  readonly userId?: string;
  readonly anonymousId?: string;
  readonly event?: string;
  readonly name?: string;
  readonly category?: string;
  readonly groupId?: string;
  readonly previousId?: string;
  readonly timestamp?: string;
  readonly messageId?: string;
  readonly property?: readonly string[];
  readonly trait?: readonly string[];
  readonly context?: readonly string[];
  readonly integration?: readonly string[];
  readonly properties?: string;
  readonly traits?: string;
  readonly contextJson?: string;
  readonly integrations?: string;
  readonly json?: string;
  readonly strict?: true;
}

interface MessageFlag {
  readonly flags: string;
  readonly description: string;
  /** The message types that have the flag; every type when absent. */
  readonly types?: readonly MessageType[];
  readonly repeatable?: true;
}

const FLAGS: readonly MessageFlag[] = [
  { flags: '--event <name>', description: 'name what happened', types: ['track', 'group'] },
  { flags: '--name <name>', description: 'name the page or screen', types: ['page', 'screen'] },
  {
    flags: '--category <name>',
    description: 'set the category of the page or screen',
    types: ['page', 'screen'],
  },
  { flags: '--group-id <id>', description: 'set the id of the group', types: ['group'] },
  { flags: '--previous-id <id>', description: 'set the id that the user had before', types: ['alias'] },
  { flags: '--user-id <id>', description: 'set the id of the user (of an alias: the new id)' },
  { flags: '--anonymous-id <id>', description: 'set the id of a user who is not known yet' },
  {
    flags: '-p, --property <key=value>',
    description: 'add a property: a.b=value, key:=json, key==text (repeat)',
    types: ['page', 'screen', 'track'],
    repeatable: true,
  },
  {
    flags: '--properties <json>',
    description: 'set all properties: JSON, @file or @-',
    types: ['page', 'screen', 'track'],
  },
  {
    flags: '-t, --trait <key=value>',
    description: 'add a trait: a.b=value, key:=json, key==text (repeat)',
    types: ['identify', 'group', 'page'],
    repeatable: true,
  },
  {
    flags: '--traits <json>',
    description: 'set all traits: JSON, @file or @-',
    types: ['identify', 'group', 'page'],
  },
  {
    flags: '--context <key=value>',
    description: 'add a context field, or a whole JSON object (repeat)',
    repeatable: true,
  },
  { flags: '--context-json <json>', description: 'set the whole context: JSON, @file or @-' },
  {
    flags: '--integration <name=bool>',
    description: 'turn a destination on or off; All=false: others (repeat)',
    repeatable: true,
  },
  { flags: '--integrations <json>', description: 'set all integrations: JSON, @file or @-' },
  { flags: '--timestamp <time>', description: 'set when it happened: RFC 3339 with a zone (default: now)' },
  { flags: '--message-id <id>', description: 'set the id of the message (default: a random one)' },
  {
    flags: '--json <json>',
    description: 'set the whole message: JSON, @file or @-; flags override it',
  },
];

/** Adds the flags of one type, or, without a type, those of a message whose type `--json` gives. */
export function addMessageFlags(command: Command, type?: MessageType): void {
  command.optionsGroup('Message:');
  for (const { flags, description, types, repeatable } of FLAGS) {
    if (type !== undefined && types !== undefined && !types.includes(type)) continue;
    const option = new Option(flags, description);
    if (repeatable) option.argParser(collect);
    else if (flags.endsWith('<id>')) option.argParser(notEmpty);
    command.addOption(option);
  }
  command.option('--strict', 'reject fields that the type does not have');
  if (type === undefined) command.option('--exact', 'with --json: send any JSON, its bytes unchanged');
}

/**
 * Throws ConfigError for the first flag of another type, which `send` has for messages whose type `--json` gives: its field
 * would be sent with a type that has no such field.
 */
export function rejectFlagsOfOtherTypes(send: Command, type: MessageType): void {
  for (const { flags, types } of FLAGS) {
    if (types === undefined || types.includes(type)) continue;
    const option = new Option(flags);
    if (send.getOptionValueSource(option.attributeName()) !== 'cli') continue;
    throw new ConfigError(`\`${option.long}\` is for ${typesText(types)}, not for ${type}`, {
      flag: option.long ?? flags,
      hint:
        meantHint(option.long ?? '', type) ??
        `leave it out; hooks send ${type} --help shows the flags of ${type}`,
    });
  }
}

/** What people mean by a flag that a type does not have. */
const MEANT: readonly (readonly [flag: string, type: MessageType, meant: string])[] = [
  ['--name', 'track', 'name what happened with --event'],
  ['--name', 'group', 'give the name of the group as a trait: --trait name=…'],
  ['--name', 'identify', 'give the name of the user as a trait: --trait name=…'],
  ['--event', 'page', 'name the page with --name'],
  ['--event', 'screen', 'name the screen with --name'],
  ['--property', 'identify', 'set what is known of the user with --trait'],
  ['--properties', 'identify', 'set what is known of the user with --traits'],
  ['--property', 'group', 'set what is known of the group with --trait'],
  ['--properties', 'group', 'set what is known of the group with --traits'],
  [
    '--trait',
    'track',
    'set what belongs to the event with --property; traits of the user are a message of their own: hooks send identify',
  ],
  [
    '--traits',
    'track',
    'set what belongs to the event with --properties; traits of the user are a message of their own: hooks send identify',
  ],
  ['--trait', 'screen', 'set what belongs to the screen with --property'],
  ['--traits', 'screen', 'set what belongs to the screen with --properties'],
  ['--previous-id', 'identify', 'join two ids of a user with a message of its own: hooks send alias'],
  ['--group-id', 'identify', 'put a user into a group with a message of its own: hooks send group'],
];

function meantHint(flag: string, type: MessageType): string | undefined {
  return MEANT.find(([given, of]) => given === flag && of === type)?.[2];
}

function typesText(types: readonly MessageType[]): string {
  return types.length === 1 ? types.join() : `${types.slice(0, -1).join(', ')} and ${types.at(-1)}`;
}

/** The flags that read standard input (`@-`). */
export function stdinFlags(flags: MessageFlags): readonly string[] {
  const texts = {
    '--json': flags.json,
    '--properties': flags.properties,
    '--traits': flags.traits,
    '--context-json': flags.contextJson,
    '--integrations': flags.integrations,
  };
  return Object.entries(texts).flatMap(([flag, text]) => (text === '@-' ? [flag] : []));
}

/** The first flag about the message besides `--json`; undefined when none is given. */
export function firstMessageFlag(given: MessageFlags): string | undefined {
  const flags = [...FLAGS.map((each) => new Option(each.flags)), new Option('--strict')];
  const first = flags.find((flag) => flag.long !== '--json' && flag.attributeName() in given);
  return first?.long;
}

/** Builds a message; the error about a missing field names the flag that gives it. */
export function withFlagsInHints<T>(build: () => T): T {
  try {
    return build();
  } catch (error) {
    const flag =
      error instanceof ValidationError && error.got === 'nothing' ? FLAG_OF[error.path] : undefined;
    if (!(error instanceof ValidationError)) throw error;
    if (flag === undefined) throw withExactInHint(error);
    const { message, path, got = '' } = error;
    const rename = error.hint?.startsWith('rename') === true ? `${error.hint}, or ` : '';
    throw new ValidationError(message, { path, got, hint: `${rename}give it with ${flag}`, cause: error });
  }
}

/** Names `--exact` in the hint of an error about a value that is no message of any type. */
export function withExactInHint(error: ValidationError): ValidationError {
  const { message, path, got = '', hint } = error;
  if (path !== 'type' || hint?.endsWith('?')) return error;
  const exact = 'add --exact to send any JSON as it is';
  return new ValidationError(message, { path, got, hint: `${hint}, or ${exact}`, cause: error });
}

const FLAG_OF: Readonly<Record<string, string>> = {
  userId: '--user-id ID',
  event: "--event 'Order Completed'",
  name: '--name NAME',
  groupId: '--group-id ID',
  previousId: '--previous-id ID',
};
