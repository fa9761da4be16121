import type { Argument, Command, Option } from 'commander';

/** What a word could become: values of its own, or names of files or folders, which the shell knows best. */
export interface Candidates {
  readonly values: readonly Completion[];
  readonly files: 'none' | 'files' | 'folders';
}

export interface Completion {
  readonly value: string;
  /** One line about it. */
  readonly about?: string;
}

/** Names of the user's own, asked for only where they can stand. */
export interface Names {
  readonly sources: () => Promise<readonly string[]>;
  readonly destinations: () => Promise<readonly string[]>;
}

const NONE: Candidates = { values: [], files: 'none' };
const FILES: Candidates = { values: [], files: 'files' };
const FOLDERS: Candidates = { values: [], files: 'folders' };

/** For the last of the words behind `hooks`, which may be empty. Those that do not begin like it are left to `matching`. */
export async function candidatesFor(
  program: Command,
  words: readonly string[],
  names: Names,
): Promise<Candidates> {
  const current = words.at(-1) ?? '';
  const { command, positional, pending, isLiteral } = placeAfter(program, words.slice(0, -1));
  if (pending !== undefined) return matching(await valuesOf(pending, names), current);
  if (command.name() === 'help') {
    // What it shows help of is a command of the one above it.
    return positional > 0 ? NONE : matching({ values: commandsOf(command.parent), files: 'none' }, current);
  }
  if (isLiteral || !current.startsWith('-') || current === '-') {
    const found = isLiteral || positional > 0 ? [] : commandsOf(command);
    const flags = current === '-' ? flagsOf(command) : [];
    const argument = argumentAt(command, positional);
    const { values, files } = argument === undefined ? NONE : valuesOfArgument(argument);
    return matching({ values: [...found, ...values, ...flags], files }, current);
  }
  const [, flag = '', value] = /^(--[^=]+)=(.*)$/s.exec(current) ?? [];
  const option = value === undefined ? undefined : optionOf(command, flag);
  if (value === undefined) return matching({ values: flagsOf(command), files: 'none' }, current);
  return option === undefined ? NONE : matching(await valuesOf(option, names), value);
}

interface Place {
  readonly command: Command;
  /** Arguments before. */
  readonly positional: number;
  /** Whose value comes next. */
  readonly pending: Option | undefined;
  /** Behind `--`. */
  readonly isLiteral: boolean;
}

function placeAfter(program: Command, words: readonly string[]): Place {
  let place: Place = { command: program, positional: 0, pending: undefined, isLiteral: false };
  for (const word of words) place = step(place, word);
  return place;
}

function step(place: Place, word: string): Place {
  const { command, positional, pending, isLiteral } = place;
  if (pending !== undefined) return { ...place, pending: undefined };
  if (isLiteral) return { ...place, positional: positional + 1 };
  if (word === '--') return { ...place, isLiteral: true };
  if (word.startsWith('-') && word !== '-') {
    const option = optionOf(command, word);
    return option?.required === true ? { ...place, pending: option } : place;
  }
  const sub = positional === 0 ? command.commands.find((each) => each.name() === word) : undefined;
  return sub === undefined ? { ...place, positional: positional + 1 } : { ...place, command: sub };
}

/** Of the command or those above it, as commander finds it. */
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

function valuesOfArgument(argument: Argument): Candidates {
  if (argument.argChoices !== undefined) return plain(argument.argChoices);
  return /file|command|csv/i.test(argument.name()) ? FILES : NONE;
}

/** Nothing is offered where a secret belongs: not even the names of files, one of which would end up in the history as if it were one. */
async function valuesOf(option: Option, names: Names): Promise<Candidates> {
  if (option.argChoices !== undefined) return plain(option.argChoices);
  switch (option.long) {
    case '--source':
      return plain(await names.sources());
    case '--integration': {
      const destinations = ['All', ...(await names.destinations())];
      return plain(destinations.flatMap((name) => [`${name}=true`, `${name}=false`]));
    }
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
