import { unexpandedName } from '../signature/secret.ts';

/** A sign in the form of a value that a shell, an editor or a form changed it, or that it was never filled in. */
export interface OddForm {
  /** The end of a sentence whose subject is the value. Has no text of the value. */
  readonly what: string;
  readonly fix: string;
}

const REPLACE = 'put the value that is meant in its place';
const TAKE_OUT = 'take it out';

/** Forms that no setting has on purpose, the most specific first. */
const FORMS: readonly (readonly [pattern: RegExp, what: string, fix: string])[] = [
  [/\r$/, 'ends in a carriage return, as files of Windows have it', `${TAKE_OUT} (dos2unix FILE)`],
  [/\n$/, 'ends in a line break', TAKE_OUT],
  [/^\s|\s$/, 'begins or ends with white space', TAKE_OUT],
  [
    /^(["'`]).*\1$/s,
    'is in quotes, which are part of it',
    'take them out (docker --env-file keeps the quotes of a file)',
  ],
  [
    /^[\u2018-\u201f\u00ab\u00bb]/,
    'begins with a typographic quote',
    'write plain quotes around it, not typographic ones',
  ],
  [/\S\s+# \S/, 'has a comment at its end, which is part of it', 'take the comment out'],
  [/^(?:undefined|null|None|nil|\[object \w+\])$/, 'is what a program writes for a missing value', REPLACE],
  [
    /[\u00ad\u200b-\u200f\u2060\ufeff]/,
    'has an invisible character in it',
    'type it again, or copy it from another place',
  ],
  [
    /^<[A-Za-z][\w -]*>$|^your[-_ ](?:\w+[-_ ])*(?:secret|key|token|url)(?:[-_ ]here)?$|^(?:change|replace)[-_ ]?me$|^(?:x{4,}|\.{3}|…)$/i,
    'is a placeholder that was not filled in',
    REPLACE,
  ],
];

/** Finds what is odd about the form of a value: quotes, white space, comments, variables and placeholders. */
export function oddForm(value: string): OddForm | undefined {
  if (unexpandedName(value) !== undefined) {
    return {
      what: 'looks like the name of a variable that was not replaced',
      fix: 'write ${NAME} in a config file; in a shell, use no single quotes around it',
    };
  }
  const [, what, fix] = FORMS.find(([pattern]) => pattern.test(value)) ?? [];
  return what === undefined || fix === undefined ? undefined : { what, fix };
}

/** Flags that `npm run SCRIPT --flag` took as settings of npm, because `--` was missing before them. */
export function flagsTakenByNpm(
  known: readonly string[],
  env: Readonly<NodeJS.ProcessEnv>,
): readonly string[] {
  if (env['npm_lifecycle_event'] === undefined) return [];
  return known.filter((flag) => {
    const name = flag.replace(/^--/, '').replaceAll('-', '_');
    return !OF_NPM.has(name) && env[`npm_config_${name}`] !== undefined;
  });
}

/** Flags of hooks that npm sets for every script, because they are settings of npm, too. */
const OF_NPM: ReadonlySet<string> = new Set([
  'version',
  'help',
  'yes',
  'global',
  'json',
  'ca',
  'proxy',
  'quiet',
]);
