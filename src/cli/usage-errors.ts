import type { Command } from 'commander';
import { flagsTakenByNpm } from '../config/odd-form.ts';
import { printable } from '../redact.ts';
import { nearHint, nearWord } from '../suggest.ts';
import { noteError } from './error-text.ts';
import { columnsOf, DEFAULT_COLUMNS, fitText } from './fit-text.ts';
import type { Io } from './io.ts';

/** The part of the environment that commander's output needs. */
type UsageOutput = Pick<Io, 'out' | 'note' | 'named' | 'stdoutColumns' | 'stderr' | 'errColor' | 'env'>;

/** Prints commander's errors like all other errors: the problem, then the hint. */
export function explainUsageErrors(command: Command, io: UsageOutput): void {
  command.configureOutput({
    writeOut: (text) => io.out(fitText(io.named(text), io.stdoutColumns)),
    getOutHelpWidth: () => io.stdoutColumns ?? DEFAULT_COLUMNS,
    getErrHelpWidth: () => columnsOf(io.stderr) ?? DEFAULT_COLUMNS,
    // Help has no colors. Asking the terminal whether it has colors would create the stream of stdout, which takes time.
    getOutHasColors: () => false,
    getErrHasColors: () => false,
    writeErr: (text) => {
      io.stderr.write(text);
    },
    outputError: (text) => {
      const { sentence, hint: told } = readUsageError(text);
      const hint = npmHint(command, io) ?? possible(told, sentence, command) ?? usageHint(sentence, command);
      noteError(io, printable(sentence, 2_000), printable(hint, 2_000));
    },
  });
}

/** The hint if `npm run` kept the flags of the command for itself. */
function npmHint(command: Command, { env }: UsageOutput): string | undefined {
  const taken = flagsTakenByNpm(longFlagsOf(command), env);
  if (taken.length === 0) return undefined;
  const names = [...new Set(taken)].join(', ');
  return `npm took ${names} for itself: put -- after the name of the script: npm run ${env['npm_lifecycle_event']} -- …`;
}

/**
 * Commander's error sentences with their replacements, which read like all other errors. The replacements name an option by
 * its long flag, and hide the value of an unknown option, because it can be a secret.
 */
const SENTENCES: readonly (readonly [pattern: RegExp, sentence: string])[] = [
  [/^option '.*?(--[\w-]+).*?' argument '(.*)' is invalid\. (.+)$/s, 'Expected `$1` to be $3, got $2'],
  [
    /^command-argument value '(.*)' is invalid for argument '(.+?)'\. (.+)$/s,
    'Expected `$2` to be $3, got $1',
  ],
  [/ to be Allowed choices are (.+), ([^,]+)\., got /, ' to be $1 or $2, got '],
  [/ got $/, ' got an empty text'],
  [/^option '.*?(--[\w-]+).*' argument missing$/, 'Expected a value after `$1`, got nothing'],
  [/^required option '(.+)' not specified$/, 'Expected `$1`, got nothing'],
  [/^missing required argument '(.+)'$/, 'Expected the argument `$1`, got nothing'],
  [/^too many arguments.* Expected 0 arguments but got (\d+)\.$/, 'Expected no arguments, got $1'],
  [/^too many arguments.* Expected (\d+ arguments?) but got (\d+)\.$/, 'Expected at most $1, got $2'],
  [/^unknown option '(--?[\w-]+)=.*'$/s, 'Unknown option `$1=…`'],
  [/^unknown option '(-\w)[^-].*'$/s, 'Unknown option `$1…`'],
  [/^unknown (option|command) '(.*)'$/s, 'Unknown $1 `$2`'],
];

/** Rewrites an error of commander, such as `error: unknown option '--evnt'⏎(Did you mean --event?)`. */
export function readUsageError(text: string): { readonly sentence: string; readonly hint?: string } {
  const [, told = '', hint] =
    /^(?:error: )?(.*?)(?:\n\(((?:Did you mean|Run) .+)\))?$/s.exec(text.trim()) ?? [];
  const ours = SENTENCES.reduce(
    (rewritten, [pattern, sentence]) => rewritten.replace(pattern, sentence),
    told,
  );
  const sentence = ours.charAt(0).toUpperCase() + ours.slice(1);
  return hint === undefined ? { sentence } : { sentence, hint: hint.charAt(0).toLowerCase() + hint.slice(1) };
}

/** Returns a suggestion of commander, unless it names a flag that does not accept the value of the unknown flag. */
function possible(suggestion: string | undefined, sentence: string, command: Command): string | undefined {
  const known = flagsInPlaceOf(unknownFlag(sentence), command);
  const named = suggestion?.match(/--[\w-]+/g) ?? [];
  return named.every((flag) => known.includes(flag)) ? suggestion : undefined;
}

function unknownFlag(sentence: string): string | undefined {
  return /^Unknown option `(--?[\w-]+)/.exec(sentence)?.[1];
}

/** The flags that accept the value after an unknown flag, which can be none of the choices of some. */
function flagsInPlaceOf(unknown: string | undefined, command: Command): readonly string[] {
  const at = unknown === undefined ? -1 : command.args.indexOf(unknown);
  const value = at === -1 ? undefined : command.args[at + 1];
  return longFlagsOf(command, value);
}

/**
 * Returns the hint if commander suggests nothing, as for `--evnt=x`: commander compares the flag together with its value.
 */
function usageHint(sentence: string, command: Command): string {
  const help = helpHint(sentence, command);
  if (sentence.startsWith('Unknown option') && lacksDashes(command)) {
    return `write -- before the command: ${pathOf(command)} … -- ${command.args[0]} …`;
  }
  const [, choices = '', got = ''] = CHOICE.exec(sentence) ?? [];
  if (choices !== '') return nearHint(got, choices.split(/, | or /), help);
  if (/^Expected (?:at most|no arguments)/.test(sentence)) return `${meantArgument(command)}; or ${help}`;
  const described = describedHint(sentence, command);
  if (described !== undefined) return `${described}; or ${help}`;
  const takesIds = command.registeredArguments.some((argument) => /ids?$/.test(argument.name()));
  if (takesIds && /^Unknown option `-[^-]/.test(sentence)) {
    return `put an id that starts with - after --: ${pathOf(command)} -- ID; or ${help}`;
  }
  const flag = unknownFlag(sentence);
  if (flag !== undefined && isArgument(flag, command)) {
    return `give it without the flag: ${pathOf(command)} ${flag.slice(2).toUpperCase()}`;
  }
  const meant = flag === undefined ? undefined : meantFlags(flag, flagsInPlaceOf(flag, command));
  if (meant !== undefined) return `did you mean ${meant}?`;
  return flag === undefined || command.parent !== null
    ? help
    : `give it after the command: hooks COMMAND ${flag} …; or ${help}`;
}

/** Returns the description of the argument or flag that is missing. */
function describedHint(sentence: string, command: Command): string | undefined {
  const [, argument, flags] =
    /^Expected (?:the argument `([\w-]+)`|`(--[^`]+)`, got nothing$)/.exec(sentence) ?? [];
  const option = command.options.find((each) => each.flags === flags);
  if (option !== undefined) return `add ${flags}: ${option.description}`;
  const described = command.registeredArguments.find((each) => each.name() === argument)?.description;
  return described ? `${argument}: ${described}` : undefined;
}

function helpHint(sentence: string, command: Command): string {
  const listed = sentence.startsWith('Unknown command') ? 'commands' : 'flags';
  return `run ${pathOf(command)} --help to see its ${listed}`;
}

/** Whether the words of a command that another command starts were given without the `--` before them. */
function lacksDashes(command: Command): boolean {
  return (
    command.usage().endsWith('-- COMMAND') &&
    /^[\w./@-]{1,40}$/.test(command.args[0] ?? '') &&
    !command.args[0]?.startsWith('-')
  );
}

/** Matches the sentence of a value that is none of the choices of its flag. */
const CHOICE = /^Expected `[\w-]+` to be ((?:[\w-]+, )*[\w-]+ or [\w-]+), got ([\w-]+)$/;

/** The main flag of each message type. Users sometimes give its value without the flag. */
const NAMED_BY: Readonly<Record<string, string>> = {
  track: '--event',
  page: '--name',
  screen: '--name',
  identify: '--user-id',
  alias: '--user-id',
  group: '--group-id',
  delete: '--user-id',
};

/** Returns the hint for the first surplus argument. Does not repeat a URL, because it can hold secrets. */
function meantArgument(command: Command): string {
  const known = longFlagsOf(command);
  const word = command.args[command.registeredArguments.length] ?? '';
  const dashed = /^[\u2012-\u2015]+(\w[\w-]*)/.exec(word)?.[1];
  if (dashed !== undefined) return `write two hyphens: --${dashed}; an editor turned them into a long dash`;
  if (/^https?:\/\//i.test(word) && known.includes('--url')) return 'give the URL with --url';
  const flag = NAMED_BY[command.name()];
  // If the main flag of the type has a value, the surplus word is probably the rest of that value, cut off at a space.
  const isFree = flag !== undefined && known.includes(flag) && !isGiven(flag, command);
  if (!isFree) {
    const last = command.registeredArguments.at(-1);
    if (last?.name() === 'file') {
      return `run ${pathOf(command)} once for each file, and put quotes around a name with spaces`;
    }
    const isNone = last === undefined && flag === undefined;
    return `${isNone ? 'leave it out, or ' : ''}put quotes around a value with spaces`;
  }
  const isPlain = /^[\w .@-]{1,40}$/.test(word) && !word.startsWith('-');
  const value = isPlain ? (word.includes(' ') ? `'${word}'` : word) : 'VALUE';
  return `give the value after its flag: ${flag} ${value}; put quotes around a value with spaces`;
}

/** Whether a flag of the command has a value, which a parent with the same flag may have parsed. */
function isGiven(flag: string, command: Command): boolean {
  const option = command.options.find(({ long }) => long === flag);
  return option !== undefined && command.optsWithGlobals()[option.attributeName()] !== undefined;
}

/** Whether a command has an argument with the name of the given flag, as in `hooks test --url URL`. */
function isArgument(flag: string, command: Command): boolean {
  const name = command.registeredArguments[0]?.name() ?? '';
  return flag.length > 3 && `--${name.replace(/s$/, '')}` === flag;
}

/** Flags that curl and other tools have, with the flags of hooks that do the same. */
const FOREIGN_FLAGS: Readonly<Record<string, readonly string[]>> = {
  '--data': ['--json', '--properties'],
  '--body': ['--json'],
  '--payload': ['--json'],
  '--key': ['--secret', '--write-key'],
  '-e': ['--event'],
  '-d': ['--json', '--properties'],
  '-H': ['--header'],
  '-k': ['--ca'],
  '-u': ['--user-id', '--write-key'],
};

/**
 * Returns the flags that an unknown flag may stand for: by its letter or name in other tools, by its prefix, by its
 * spelling.
 */
function meantFlags(flag: string, known: readonly string[]): string | undefined {
  const isLong = flag.startsWith('--');
  const foreign = FOREIGN_FLAGS[isLong ? flag : flag.slice(0, 2)] ?? [];
  const same = foreign.filter((each) => known.includes(each));
  if (same.length > 0) return same.join(' or ');
  if (!isLong) return undefined;
  return nearWord(flag, known);
}

/** The long flags of a command and of the commands above it, with `value` only those that accept it. */
function longFlagsOf(command: Command, value?: string): string[] {
  const above = command.parent === null ? [] : longFlagsOf(command.parent, value);
  const visible = command.createHelp().visibleOptions(command);
  const own = visible.filter(
    ({ argChoices }) => value === undefined || argChoices?.includes(value) !== false,
  );
  return [...own.flatMap(({ long }) => long ?? []), ...above];
}

/** Returns the full name of a command, such as `hooks send track`. */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
