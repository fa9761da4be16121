import { shellQuoted } from '../../../../capture/curl-command.ts';
import type { ScheduleCode } from '../../../../idempotence/prove.ts';
import {
  isSecretHeader,
  isSecretParameter,
  MASK,
  printable,
  redactUrl,
  withoutSecrets,
} from '../../../../redact.ts';
import type { TestOptions } from '../options.ts';

interface RepeatOptions {
  /** The receiver's URL without secrets. */
  readonly shownUrl: string;
  /** Program and arguments of the receiver. Empty if the receiver runs already. */
  readonly command: readonly string[];
  readonly options: TestOptions & { readonly state: string };
  readonly seed: number;
  /** Secrets to mask in the command line for repeating the run. */
  readonly secrets: readonly string[];
  /**
   * Environment of the run. If HOOKS_SECRET holds the secret, the command line for repeating the run needs no flag for the
   * secret.
   */
  readonly env: Readonly<NodeJS.ProcessEnv>;
}

/**
 * Returns the command line that repeats one check of a run, quoted for a POSIX shell. A secret in it is masked, or replaced
 * by $HOOKS_SECRET; a second line then asks to set the variable.
 */
export function repeatCommand(check: ScheduleCode, repeat: RepeatOptions): string {
  const { shownUrl, command, options, seed, secrets, env } = repeat;
  const given = [
    ...flag('--state', options.state),
    ...flag('--reset', options.reset),
    ...flag('--messages', options.messages),
    ...flag('--seed', String(seed)),
    ...flag('--only', check),
    ...(options.anyOrder === true ? ['--any-order'] : []),
    ...flag('--schedules', options.schedules?.toString()),
    ...flag('--late', inMs(options.late)),
    ...flag('--state-timeout', inMs(options.stateTimeout)),
    ...flag('--start-timeout', inMs(options.startTimeout)),
    ...flag('--timeout', options.timeout),
    ...flag('--scheme', options.scheme),
    ...flag('--ca', options.ca),
    ...(options.header ?? []).flatMap((header) => flag('--header', maskedHeader(header))),
    ...(options.config === false ? ['--no-config'] : flag('--config', options.config)),
  ];
  const words = ['hooks', 'test', shownUrl, ...given].map((word) => shellWord(word, secrets));
  const behind = command.map((word) => shellWord(word, secrets));
  const texts = (options.secret ?? []).flatMap((each) => ('text' in each ? [each.text] : []));
  const needsVariable = texts.some((text) => text !== env['HOOKS_SECRET']);
  // A secret that HOOKS_SECRET holds is used without a flag.
  const isFlagNeeded = needsVariable || (options.secret ?? []).length !== 1 || texts.length === 0;
  const signing = isFlagNeeded ? secretFlags(options, secrets) : [];
  const line = [...words, ...signing, ...(behind.length > 0 ? ['--', ...behind] : [])].join(' ');
  return needsVariable ? `${line}\n            ${SET_FIRST}` : line;
}

const SET_FIRST = '(HOOKS_SECRET must be set to the secret first: export HOOKS_SECRET=…)';

function flag(name: string, value: string | undefined): string[] {
  return value === undefined ? [] : [name, value];
}

function inMs(value: number | undefined): string | undefined {
  return value === undefined ? undefined : `${value}ms`;
}

/** Returns flags for the secrets. The text of a secret is replaced by a variable of the user's shell. */
function secretFlags({ secret }: TestOptions, secrets: readonly string[]): readonly string[] {
  return (secret ?? []).flatMap((given) =>
    'file' in given ? ['--secret-file', shellWord(given.file, secrets)] : ['--secret', '"$HOOKS_SECRET"'],
  );
}

function maskedHeader(header: string): string {
  const [name = ''] = header.split(':');
  return isSecretHeader(name.trim()) ? `${name}: ${MASK}` : header;
}

const PLAIN_WORD = /^[\w@%+=:,./-]+$/;
const URL_IN_TEXT = /\b[a-z][a-z\d+.-]*:\/\/[^\s'"]+/gi;
const HEADER_IN_TEXT = /\b([\w-]+)(: *)([^\s'"][^'"\n]*)/g;
const VARIABLE_IN_TEXT = /\b(\w+)(=)('[^']*'|"[^"]*"|[^\s'"]+)/g;

function shellWord(word: string, secrets: readonly string[]): string {
  const shown = withoutSecrets(word, secrets)
    .replace(URL_IN_TEXT, redactUrl)
    .replace(HEADER_IN_TEXT, (whole, name: string, colon: string) =>
      isSecretHeader(name) ? name + colon + MASK : whole,
    )
    .replace(VARIABLE_IN_TEXT, (whole, name: string, equals: string) =>
      isSecretParameter(name) ? name + equals + MASK : whole,
    );
  const safe = shown
    .split('\n')
    .map((line) => printable(line, 10_000))
    .join('\n');
  return PLAIN_WORD.test(safe) ? safe : shellQuoted(safe);
}
