import { Option, type Command } from 'commander';
import { ValidationError } from '../../../errors.ts';
import type { MessageType } from '../../../message/types.ts';
import { collect, flagError, given as notEmpty } from '../flag-values.ts';

/** The fields of a message that have a flag with the same name. */
export const FIELD_FLAGS = [
  'userId',
  'anonymousId',
  'event',
  'name',
  'category',
  'groupId',
  'previousId',
  'timestamp',
  'messageId',
] as const;

type FieldFlags = { readonly [Name in (typeof FIELD_FLAGS)[number]]?: string };

/** The flags of `send` about the message itself, by commander's attribute name. */
export interface MessageFlags extends FieldFlags {
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

/** A flag, its help line, and the message types that have the flag: every type if absent. */
type MessageFlag = readonly [flags: string, help: string, types?: readonly MessageType[]];

const WITH_PROPERTIES = ['page', 'screen', 'track'] as const;
const WITH_TRAITS = ['identify', 'group', 'page'] as const;

const FLAGS: readonly MessageFlag[] = [
  ['--event <name>', 'name what happened', ['track', 'group']],
  ['--name <name>', 'name the page or screen', ['page', 'screen']],
  ['--category <name>', 'set the category of the page or screen', ['page', 'screen']],
  ['--group-id <id>', 'set the id of the group', ['group']],
  ['--previous-id <id>', 'set the id that the user had before', ['alias']],
  ['--user-id <id>', 'set the id of the user (of an alias: the new id)'],
  ['--anonymous-id <id>', 'set the id of a user who is not known yet'],
  ['-p, --property <key=value>', 'add a property: a.b=value, key:=json, key==text (repeat)', WITH_PROPERTIES],
  ['--properties <json>', 'set all properties: JSON, @file or @-', WITH_PROPERTIES],
  ['-t, --trait <key=value>', 'add a trait: a.b=value, key:=json, key==text (repeat)', WITH_TRAITS],
  ['--traits <json>', 'set all traits: JSON, @file or @-', WITH_TRAITS],
  ['--context <key=value>', 'add a context field, or a whole JSON object (repeat)'],
  ['--context-json <json>', 'set the whole context: JSON, @file or @-'],
  ['--integration <name=bool>', 'turn a destination on or off; All=false: others (repeat)'],
  ['--integrations <json>', 'set all integrations: JSON, @file or @-'],
  ['--timestamp <time>', 'set when it happened: RFC 3339 with a zone (default: now)'],
  ['--message-id <id>', 'set the id of the message (default: a random one)'],
  ['--json <json>', 'set the whole message: JSON, @file or @-; flags override it'],
];

/** Adds the flags of a message type. Without a type, adds all flags, for a message whose type `--json` gives. */
export function addMessageFlags(command: Command, type?: MessageType): void {
  command.optionsGroup('Message:');
  for (const [flags, help, types] of FLAGS) {
    if (type !== undefined && types !== undefined && !types.includes(type)) continue;
    const option = new Option(flags, help);
    // A flag for single values, such as <key=value>, can be repeated.
    if (flags.includes('=')) option.argParser(collect);
    else if (flags.endsWith('<id>')) option.argParser(notEmpty);
    command.addOption(option);
  }
  command.option('--strict', 'reject fields that the type does not have');
  if (type === undefined) command.option('--exact', 'with --json: send any JSON, its bytes unchanged');
}

/**
 * Throws ConfigError for the first flag of another type. `send` accepts all flags because `--json` gives the type, but the
 * message must not get a field that its type does not have.
 */
export function rejectFlagsOfOtherTypes(send: Command, type: MessageType): void {
  for (const [flags, , types] of FLAGS) {
    if (types === undefined || types.includes(type)) continue;
    const option = new Option(flags);
    if (send.getOptionValueSource(option.attributeName()) !== 'cli') continue;
    const long = option.long ?? flags;
    const meant = MEANT.find(([flag, ofType]) => flag === long && ofType === type)?.[2];
    const hint = meant ?? `leave it out; hooks send ${type} --help shows the flags of ${type}`;
    throw flagError(long, `\`${long}\` is for ${typesText(types)}, not for ${type}`, hint);
  }
}

/** Hints that name the right flag for a flag that a type does not have. */
const MEANT: readonly (readonly [flag: string, type: MessageType, hint: string])[] = [
  ['--name', 'track', 'name what happened with --event'],
  ['--name', 'group', 'give the name of the group as a trait: --trait name=…'],
  ['--name', 'identify', 'give the name of the user as a trait: --trait name=…'],
  ['--event', 'page', 'name the page with --name'],
  ['--event', 'screen', 'name the screen with --name'],
  ['--property', 'identify', 'set traits of the user with --trait'],
  ['--properties', 'identify', 'set traits of the user with --traits'],
  ['--property', 'group', 'set traits of the group with --trait'],
  ['--properties', 'group', 'set traits of the group with --traits'],
  ['--trait', 'track', 'set data of the event with --property, or send traits with hooks send identify'],
  ['--traits', 'track', 'set data of the event with --properties, or send traits with hooks send identify'],
  ['--trait', 'screen', 'set data of the screen with --property'],
  ['--traits', 'screen', 'set data of the screen with --properties'],
  ['--previous-id', 'identify', 'join two ids of a user with hooks send alias'],
  ['--group-id', 'identify', 'add a user to a group with hooks send group'],
];

function typesText(types: readonly MessageType[]): string {
  return types.length === 1 ? types.join() : `${types.slice(0, -1).join(', ')} and ${types.at(-1)}`;
}

/** Returns the flags that read standard input (`@-`). */
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

/** Returns the first given flag about the message besides `--json`, or undefined. */
export function firstMessageFlag(given: MessageFlags): string | undefined {
  const flags = [...FLAGS.map(([each]) => new Option(each)), new Option('--strict')];
  const first = flags.find((flag) => flag.long !== '--json' && flag.attributeName() in given);
  return first?.long;
}

/** Calls `build`. Adds the flag of a missing field to the hint of a ValidationError. */
export function withFlagsInHints<T>(build: () => T): T {
  try {
    return build();
  } catch (error) {
    if (!(error instanceof ValidationError)) throw error;
    const flag = error.got === 'nothing' ? FLAG_OF[error.path] : undefined;
    if (flag === undefined) throw withExactInHint(error);
    const { message, path, got = '' } = error;
    const rename = error.hint?.startsWith('rename') === true ? `${error.hint}, or ` : '';
    throw new ValidationError(message, { path, got, hint: `${rename}give it with ${flag}`, cause: error });
  }
}

/** Adds `--exact` to the hint of an error about a value that is not a message of any type. */
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
