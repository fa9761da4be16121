import { Option, type Command } from 'commander';
import { ConfigError, ValidationError } from '../../../errors.ts';
import type { MessageType } from '../../../message/types.ts';
import { collect } from '../flag-values.ts';

/** What the flags of `send` say of the message itself, as commander names them. */
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

interface Flag {
  readonly flags: string;
  readonly description: string;
  /** The types that have it; every type when absent. */
  readonly types?: readonly MessageType[];
  readonly repeatable?: true;
}

const FLAGS: readonly Flag[] = [
  { flags: '--event <name>', description: 'what happened', types: ['track', 'group'] },
  { flags: '--name <name>', description: 'the name of the page or screen', types: ['page', 'screen'] },
  {
    flags: '--category <name>',
    description: 'the category of the page or screen',
    types: ['page', 'screen'],
  },
  { flags: '--group-id <id>', description: 'the group', types: ['group'] },
  { flags: '--previous-id <id>', description: 'the id the user had before', types: ['alias'] },
  { flags: '--user-id <id>', description: 'the user (of an alias: the new id)' },
  { flags: '--anonymous-id <id>', description: 'stands for a user that is not known yet' },
  {
    flags: '-p, --property <key=value>',
    description: 'a property: path.to.key=value, key:=json, key==text; repeatable',
    types: ['page', 'screen', 'track'],
    repeatable: true,
  },
  {
    flags: '--properties <json>',
    description: 'all properties: JSON, @file or @-',
    types: ['page', 'screen', 'track'],
  },
  {
    flags: '-t, --trait <key=value>',
    description: 'a trait, spelled like a property; repeatable',
    types: ['identify', 'group', 'page'],
    repeatable: true,
  },
  {
    flags: '--traits <json>',
    description: 'all traits: JSON, @file or @-',
    types: ['identify', 'group', 'page'],
  },
  {
    flags: '--context <key=value>',
    description: 'a context field, or the whole as a JSON object; repeatable',
    repeatable: true,
  },
  { flags: '--context-json <json>', description: 'the whole context: JSON, @file or @-' },
  {
    flags: '--integration <name=bool>',
    description: 'turns a destination on or off (All=false for all others); repeatable',
    repeatable: true,
  },
  { flags: '--integrations <json>', description: 'all integrations: JSON, @file or @-' },
  { flags: '--timestamp <time>', description: 'when it happened: RFC 3339 with a zone (default: now)' },
  { flags: '--message-id <id>', description: 'default: a random one' },
  {
    flags: '--json <json>',
    description: 'the whole message: JSON, @file or @-; other flags override its fields',
  },
];

/** The flags of one type, or, without a type, of a message that brings its own. */
export function addMessageFlags(command: Command, type?: MessageType): void {
  command.optionsGroup('Message:');
  for (const { flags, description, types, repeatable } of FLAGS) {
    if (type !== undefined && types !== undefined && !types.includes(type)) continue;
    const option = new Option(flags, description);
    command.addOption(repeatable ? option.argParser(collect) : option);
  }
  command.option('--strict', 'refuse fields that the type does not have');
}

/**
 * Flags of other types, which `send` has for messages that bring their own type. Throws ConfigError for the first that
 * was given: its field would be sent with a type that has no such field.
 */
export function refuseFlagsOfOtherTypes(send: Command, type: MessageType): void {
  for (const { flags, types } of FLAGS) {
    if (types === undefined || types.includes(type)) continue;
    const option = new Option(flags);
    if (send.getOptionValueSource(option.attributeName()) !== 'cli') continue;
    throw new ConfigError(`\`${option.long}\` is for ${listed(types)}, not for ${type}`, {
      key: option.long ?? flags,
      origin: option.long ?? flags,
      hint: `leave it out; hooks send ${type} --help shows the flags of ${type}`,
    });
  }
}

function listed(types: readonly MessageType[]): string {
  return types.length === 1 ? types.join() : `${types.slice(0, -1).join(', ')} and ${types.at(-1)}`;
}

/** Which flags read standard input (`@-`). */
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

/** Builds a message; a field that is missing is told with the flag that gives it. */
export function withFlagsInHints<T>(build: () => T): T {
  try {
    return build();
  } catch (error) {
    const flag =
      error instanceof ValidationError && error.got === 'nothing' ? FLAG_OF[error.path] : undefined;
    if (!(error instanceof ValidationError) || flag === undefined) throw error;
    const { message, path, got = '' } = error;
    throw new ValidationError(message, { path, got, hint: `give it with ${flag}`, cause: error });
  }
}

const FLAG_OF: Readonly<Record<string, string>> = {
  userId: '--user-id ID',
  event: "--event 'Order Completed'",
  name: '--name NAME',
  groupId: '--group-id ID',
  previousId: '--previous-id ID',
};
