import type { Command } from 'commander';
import { printable } from '../redact.ts';
import { closest } from '../suggest.ts';
import { noteError } from './error-text.ts';
import { fitText } from './fit-text.ts';
import type { Io } from './io.ts';

/** What commander takes where there is no terminal. */
const UNKNOWN_COLUMNS = 80;

/** The part of the environment that commander writes to. */
type UsageOutput = Pick<Io, 'out' | 'note' | 'stdoutColumns' | 'stderr' | 'stderrIsTty' | 'errColor'>;

/** Makes commander's errors look like every other error: what is wrong, then the hint. */
export function explainUsageErrors(command: Command, io: UsageOutput): void {
  command.configureOutput({
    writeOut: (text) => io.out(fitText(text, io.stdoutColumns)),
    getOutHelpWidth: () => io.stdoutColumns ?? UNKNOWN_COLUMNS,
    getErrHelpWidth: () => (io.stderrIsTty && io.stderr.columns) || UNKNOWN_COLUMNS,
    // Help has no colors. Asking what the terminal can do would make its stream.
    getOutHasColors: () => false,
    getErrHasColors: () => false,
    writeErr: (text) => {
      io.stderr.write(text);
    },
    outputError: (text) => {
      const { sentence, hint = usageHint(sentence, command) } = readUsageError(text);
      noteError(io, printable(sentence, 2_000), printable(hint, 2_000));
    },
  });
}

/**
 * Commander's sentences, and the same ones in the voice of all other errors. An option is named by its long flag. The value in an unknown
 * option is not shown, because it may be a secret.
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
  [/^too many arguments.* Expected (\d+ arguments?) but got (\d+)\.$/, 'Expected at most $1, got $2'],
  [/^unknown option '(--?[\w-]+)=.*'$/s, 'Unknown option `$1=…`'],
  [/^unknown option '(-\w)[^-].*'$/s, 'Unknown option `$1…`'],
  [/^unknown (option|command) '(.*)'$/s, 'Unknown $1 `$2`'],
];

/** Reads `error: unknown option '--evnt'⏎(Did you mean --event?)`. */
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

/** The hint where commander has no suggestion. Commander compares a flag together with the value behind its =. */
function usageHint(sentence: string, command: Command): string {
  const help = `run ${pathOf(command)} --help to see its flags`;
  if (sentence.startsWith('Expected at most ')) return `${meantArgument(command)}, or ${help}`;
  const takesIds = command.registeredArguments.some((argument) => /ids?$/.test(argument.name()));
  if (takesIds && /^Unknown option `-[^-]/.test(sentence)) {
    return `put an id that starts with - behind --: ${pathOf(command)} -- ID; or ${help}`;
  }
  const flag = /^Unknown option `(--?[\w-]+)/.exec(sentence)?.[1];
  if (flag !== undefined && isArgument(flag, command)) {
    return `give it without the flag: ${pathOf(command)} ${flag.slice(2).toUpperCase()}`;
  }
  const meant = flag === undefined ? undefined : meantFlags(flag, longFlagsOf(command));
  if (meant !== undefined) return `did you mean ${meant}?`;
  return flag === undefined || command.parent !== null
    ? help
    : `give it behind the command: hooks COMMAND ${flag} …; or ${help}`;
}

/** What a message of this type is named by, which people give without its flag. */
const NAMED_BY: Readonly<Record<string, string>> = {
  track: '--event',
  page: '--name',
  screen: '--name',
  identify: '--user-id',
  alias: '--user-id',
  group: '--group-id',
  delete: '--user-id',
};

/** What the first argument too many is for. A URL may hold secrets, and is not repeated. */
function meantArgument(command: Command): string {
  const known = longFlagsOf(command);
  const word = command.args[command.registeredArguments.length] ?? '';
  const dashed = /^[\u2012-\u2015]+(\w[\w-]*)/.exec(word)?.[1];
  if (dashed !== undefined) return `write two hyphens: --${dashed}; an editor made a long dash of them`;
  if (/^https?:\/\//i.test(word) && known.includes('--url')) return 'give the URL with --url';
  const flag = NAMED_BY[command.name()];
  // Given already, its value was cut at a space.
  const isFree = flag !== undefined && known.includes(flag) && !isGiven(flag, command);
  if (!isFree) return 'put quotes around a value with spaces';
  const isPlain = /^[\w .@-]{1,40}$/.test(word) && !word.startsWith('-');
  const value = isPlain ? (word.includes(' ') ? `'${word}'` : word) : 'VALUE';
  return `give the value behind its flag: ${flag} ${value}; put quotes around one with spaces`;
}

/** A parent has the flag too, and may have read it. */
function isGiven(flag: string, command: Command): boolean {
  const option = command.options.find(({ long }) => long === flag);
  return option !== undefined && command.optsWithGlobals()[option.attributeName()] !== undefined;
}

/** Whether a command takes as an argument what was given as a flag: `hooks test --url URL`. */
function isArgument(flag: string, command: Command): boolean {
  const name = command.registeredArguments[0]?.name() ?? '';
  return flag.length > 3 && `--${name.replace(/s$/, '')}` === flag;
}

/** What people type who know curl or other tools, where a command has the flag. */
const LONG_FLAGS: Readonly<Record<string, readonly string[]>> = {
  '--data': ['--json', '--properties'],
  '--body': ['--json'],
  '--payload': ['--json'],
  '--key': ['--secret', '--write-key'],
};

const SHORT_FLAGS: Readonly<Record<string, readonly string[]>> = {
  '-e': ['--event'],
  '-d': ['--json', '--properties'],
  '-H': ['--header'],
  '-k': ['--ca'],
  '-u': ['--user-id', '--write-key'],
};

/** The flags that a person may mean by one that does not exist: of that letter, that begin so, or nearly spelled so. */
function meantFlags(flag: string, known: readonly string[]): string | undefined {
  const byLetter = (SHORT_FLAGS[flag.slice(0, 2)] ?? []).filter((each) => known.includes(each));
  if (!flag.startsWith('--')) return byLetter.length === 0 ? undefined : byLetter.join(' or ');
  const byName = (LONG_FLAGS[flag] ?? []).filter((each) => known.includes(each));
  if (byName.length > 0) return byName.join(' or ');
  const [shortest] = known
    .filter((each) => each.startsWith(flag))
    .toSorted((one, other) => one.length - other.length);
  return shortest ?? closest(flag, known);
}

function longFlagsOf(command: Command): string[] {
  const above = command.parent === null ? [] : longFlagsOf(command.parent);
  const own = command.createHelp().visibleOptions(command);
  return [...own.flatMap(({ long }) => long ?? []), ...above];
}

/** `hooks send track` */
function pathOf(command: Command): string {
  return command.parent === null ? command.name() : `${pathOf(command.parent)} ${command.name()}`;
}
