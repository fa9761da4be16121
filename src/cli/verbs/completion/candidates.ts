import type { Argument, Command, Option } from 'commander';
import { GUIDES } from '../../help/guide.ts';

/** The candidates for a word: values, or names of files or folders, which the shell itself completes. */
export interface Candidates {
  readonly values: readonly Completion[];
  readonly files: 'none' | 'files' | 'folders';
}

export interface Completion {
  readonly value: string;
  /** Description of the candidate in one line, which some shells show. */
  readonly about?: string;
}

/** Names from the config, the queue and the checks, read only if the word to complete can be one of them. */
export interface Names {
  readonly sources: () => Promise<readonly string[]>;
  readonly destinations: () => Promise<readonly string[]>;
  readonly schemes: () => Promise<readonly string[]>;
  readonly checks: () => Promise<readonly Completion[]>;
  /** The deliveries that a subcommand of `hooks queue` takes, by the beginning of their ids. */
  readonly deliveries: (verb: string, start: string) => Promise<readonly Completion[]>;
}

const NONE: Candidates = { values: [], files: 'none' };
const FILES: Candidates = { values: [], files: 'files' };
const FOLDERS: Candidates = { values: [], files: 'folders' };

/** Completes the last of the words after `hooks`, which can be empty. */
export async function candidatesFor(
  program: Command,
  words: readonly string[],
  names: Names,
): Promise<Candidates> {
  const current = words.at(-1) ?? '';
  const { command, positional, pending, isLiteral } = pointAfter(program, words.slice(0, -1));
  if (pending !== undefined) return matching(await valuesOf(pending, current, names), current);
  if (command.name() === 'help') {
    // `help` takes a subcommand of its parent, as in `hooks queue help list`. Only `hooks help` also takes a topic.
    const topics = command.parent?.parent === null ? GUIDES.filter((name) => name !== 'serve') : [];
    const values = [...commandsOf(command.parent), ...topics.map((value) => ({ value, about: 'a topic' }))];
    return positional > 0 ? NONE : matching({ values, files: 'none' }, current);
  }
  if (isLiteral || !current.startsWith('-') || current === '-') {
    const found = isLiteral || positional > 0 ? [] : commandsOf(command);
    const flags = current === '-' ? flagsOf(command) : [];
    const argument = argumentAt(command, positional);
    const ids = argument !== undefined && isId(command, argument);
    const { values, files } = ids
      ? { ...NONE, values: await names.deliveries(command.name(), current) }
      : valuesOfArgument(argument);
    return matching({ values: [...found, ...values, ...flags], files }, current);
  }
  const [, flag = '', value] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
  const option = value === undefined ? undefined : optionOf(command, flag);
  if (value === undefined) return matching({ values: flagsOf(command), files: 'none' }, current);
  return option === undefined ? NONE : matching(await valuesOf(option, value, names), value);
}

/** The place of the word to complete: the command and the options that the words before it name. */
interface CompletionPoint {
  readonly command: Command;
  /** Number of arguments of the command before the word to complete. */
  readonly positional: number;
  /** The option whose value is the word to complete. */
  readonly pending: Option | undefined;
  /** Whether the word to complete comes after `--`. */
  readonly isLiteral: boolean;
}

function pointAfter(program: Command, words: readonly string[]): CompletionPoint {
  let point: CompletionPoint = { command: program, positional: 0, pending: undefined, isLiteral: false };
  for (const word of words) point = pointAfterWord(point, word);
  return point;
}

function pointAfterWord(point: CompletionPoint, word: string): CompletionPoint {
  const { command, positional, pending, isLiteral } = point;
  if (pending !== undefined) return { ...point, pending: undefined };
  if (isLiteral) return { ...point, positional: positional + 1 };
  if (word === '--') return { ...point, isLiteral: true };
  if (word.startsWith('-') && word !== '-') {
    const option = optionOf(command, word);
    return option?.required === true ? { ...point, pending: option } : point;
  }
  const sub = positional === 0 ? command.commands.find((each) => each.name() === word) : undefined;
  return sub === undefined ? { ...point, positional: positional + 1 } : { ...point, command: sub };
}

/** Finds an option of the command or of its parents, as commander does. */
function optionOf(command: Command, flag: string): Option | undefined {
  const found = command.options.find(({ long, short }) => long === flag || short === flag);
  return found ?? (command.parent === null ? undefined : optionOf(command.parent, flag));
}

function flagsOf(command: Command): Completion[] {
  const own = command
    .createHelp()
    .visibleOptions(command)
    .flatMap(({ long, description }) => (long === undefined ? [] : [{ value: long, about: description }]));
  return command.parent === null ? own : [...own, ...flagsOf(command.parent)];
}

function commandsOf(command: Command | null): Completion[] {
  const shown = command?.commands.filter((each) => !isHidden(each)) ?? [];
  return shown.map((each) => ({ value: each.name(), about: each.summary() || each.description() }));
}

function argumentAt({ registeredArguments }: Command, index: number): Argument | undefined {
  const last = registeredArguments.at(-1);
  return registeredArguments[index] ?? (last?.variadic === true ? last : undefined);
}

function valuesOfArgument(argument: Argument | undefined): Candidates {
  if (argument === undefined) return NONE;
  if (argument.argChoices !== undefined) return plain(argument.argChoices);
  return /file|command|csv/i.test(argument.name()) ? FILES : NONE;
}

/** Whether the argument is an id of a delivery: `hooks queue show <id>`, `hooks queue drop [ids...]`. */
function isId(command: Command, argument: Argument): boolean {
  return command.parent?.name() === 'queue' && /^ids?$/.test(argument.name());
}

/** Returns the values of an option. Offers nothing for a secret, not even file names, which users could enter as secrets. */
async function valuesOf(option: Option, current: string, names: Names): Promise<Candidates> {
  if (option.argChoices !== undefined) return plain(option.argChoices);
  switch (option.long) {
    case '--source':
      return plain(await names.sources());
    case '--integration': {
      const destinations = ['All', ...(await names.destinations())];
      return plain(destinations.flatMap((name) => [`${name}=true`, `${name}=false`]));
    }
    case '--scheme':
      return listed(plain(await names.schemes()), current);
    case '--only':
    case '--skip':
      return listed({ ...NONE, values: await names.checks() }, current);
    case '--save':
      return FOLDERS;
    case '--host':
      return plain(['127.0.0.1', '::1', '0.0.0.0']);
    case '--respond':
      return plain(['200', '401', '429@retry-after=3', '500', '503x2,200', 'timeout', 'reset', 'slow-body']);
    default:
      return /<file>|<folder>/i.test(option.flags) ? FILES : NONE;
  }
}

/** Completes the last value of a list that commas separate, and omits the values that the list has already. */
function listed({ values, files }: Candidates, current: string): Candidates {
  const before = current.split(',').slice(0, -1);
  const others = values.filter(({ value }) => !before.includes(value));
  return { files, values: others.map((each) => ({ ...each, value: [...before, each.value].join(',') })) };
}

function plain(values: readonly string[]): Candidates {
  return { values: values.map((value) => ({ value })), files: 'none' };
}

function matching({ values, files }: Candidates, start: string): Candidates {
  const unique = new Map(values.map((candidate) => [candidate.value, candidate]));
  return { files, values: [...unique.values()].filter(({ value }) => value.startsWith(start)) };
}

function isHidden(command: Command): boolean {
  return (command as unknown as { _hidden?: boolean })._hidden === true; // commander has no other way to ask
}
