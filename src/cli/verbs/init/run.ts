import { randomBytes } from 'node:crypto';
import { basename, dirname, resolve } from 'node:path';
import { findProjectFile } from '../../../config/files/find-files.ts';
import { validateReferences, referencesIn, withoutReferences } from '../../../config/references.ts';
import { SETTING_FIELDS } from '../../../config/table/fields.ts';
import { configTemplate, type TemplateOptions } from '../../../config/table/template.ts';
import { ConfigError } from '../../../errors.ts';
import { writeInOnePiece } from '../../../files.ts';
import { MASK, printable, redactUrl } from '../../../redact.ts';
import { unwritableFile } from '../../../report/output-file.ts';
import { isLoopbackHost } from '../../../url.ts';
import type { GlobalOptions } from '../../command.ts';
import { noteHint } from '../../error-text.ts';
import { ExitCode, interruptedCode } from '../../exit-code.ts';
import { readSecretFlags, type SecretFlags } from '../../flags/signature/secret-flags.ts';
import type { Io } from '../../io.ts';
import { jsonLine } from '../../json-line.ts';
import { askQuestions, INIT_PURPOSES, type InitAnswers, type InitPurpose } from './questions.ts';

export interface InitOptions extends GlobalOptions, SecretFlags {
  readonly url?: readonly string[];
  readonly for?: InitPurpose;
  readonly yes?: true;
  readonly force?: true;
}

const FIRST_URL = 'http://localhost:3000/webhook';

/** Runs `hooks init`: writes a commented config and prints what to try next. */
export async function initialize(words: readonly string[], given: InitOptions, io: Io): Promise<ExitCode> {
  const { file, urls: named } = sortWords(words);
  const options = named.length === 0 ? given : { ...given, url: [...(given.url ?? []), ...named] };
  const target = resolve(io.cwd, file);
  validateName(file);
  if (options.force !== true) rejectSecondConfig(target, io.cwd);
  if (options.url !== undefined) validateUrls(options.url, '--url');
  const answers = await answersOf(options, io);
  if (answers === undefined) return interruptedCode(io) ?? ExitCode.sigint;
  const text = configTemplate({ urls: answers.urls, inForce: settingsInForce(answers) });
  writePrivately(target, text, { file, isReplaced: options.force ?? false });
  printResult(file, { ...answers, isFound: findProjectFile(io.cwd) === target }, options, io);
  if (answers.purpose === 'service' && options.quiet !== true) await noteQueueProblem(io);
  return ExitCode.ok;
}

function isUrl(word: string): boolean {
  return /^(?:https?:\/\/|\$\{)/i.test(word);
}

/** Tells URLs from the name of the file. Throws ConfigError for a second file. */
function sortWords(words: readonly string[]): { readonly file: string; readonly urls: readonly string[] } {
  const urls = words.filter(isUrl);
  const [file = '.hooksrc.yaml', second] = words.filter((word) => !urls.includes(word));
  if (second === undefined) return { file, urls };
  const sentence = `Expected one file, got ${printable(file, 200)} and ${printable(second, 200)}`;
  throw new ConfigError(sentence, {
    flag: 'file',
    hint: 'name one YAML file; URLs start with http:// or https://',
  });
}

/** Throws ConfigError for a file that hooks would not read as YAML. */
function validateName(file: string): void {
  if (/\.ya?ml$|^\.hooksrc$/.test(basename(file))) return;
  throw new ConfigError(`Expected a file that ends in .yaml or .yml, got ${printable(file, 200)}`, {
    flag: 'file',
    hint: INIT_PURPOSES.some((purpose) => purpose === file)
      ? `did you mean hooks init --for ${file}?`
      : 'choose another name: comments need YAML; the default is .hooksrc.yaml',
  });
}

/** Throws ConfigError if the folder already has a config, because hooks could find that one and ignore the new one. */
function rejectSecondConfig(target: string, cwd: string): void {
  const found = findProjectFile(cwd);
  if (found === undefined || dirname(found) !== dirname(target) || !basename(target).startsWith('.hooksrc')) {
    return;
  }
  const isSame = found === target;
  const name = printable(basename(found), 200);
  throw new ConfigError(
    isSame ? `There is ${name} already` : `There is a config in this folder already: ${name}`,
    {
      origin: name,
      hint: isSame
        ? 'add --force to overwrite it; hooks config shows what it says'
        : 'add --force to write another one; hooks config -c FILE shows what each of them says',
    },
  );
}

/** Throws ConfigError for URLs that are invalid or contain a secret, which a config should not contain. */
function validateUrls(urls: readonly string[], name: string): void {
  validateReferences(urls, { name });
  SETTING_FIELDS.webhooks.kind.parse(
    urls.map((url) => (referencesIn(url).length === 0 ? url : FIRST_URL)),
    { name },
  );
  for (const url of urls) {
    if (!holdsSecret(url)) continue;
    throw new ConfigError(`\`${name}\` holds a secret, which is not written to a file: ${redactUrl(url)}`, {
      key: 'webhooks',
      origin: name,
      hint: "put the URL in a variable and refer to it: --url '${WEBHOOK_URL}'",
    });
  }
}

/** Whether a URL holds a secret in plain text: not a reference such as `${PASS}`, nor the user name before it. */
function holdsSecret(url: string): boolean {
  const rest = withoutReferences(url, MASK).replace(/\/\/[^/?#@]*:\*{3}@/, `//${MASK}@`);
  return redactUrl(rest) !== rest;
}

/** Whether the host of a URL is a loopback name or address. */
function isOnThisMachine(url: string): boolean {
  return URL.canParse(url) && isLoopbackHost(new URL(url).hostname);
}

/** Returns the settings besides `webhooks` that are active in the written config: they depend on the user's answers. */
function settingsInForce({ purpose, urls, isSigned }: InitAnswers): TemplateOptions['inForce'] {
  return {
    ...(isSigned && { sharedSecret: '${HOOKS_SECRET}' }),
    // Without this setting, `serve` does not deliver to webhooks on this machine.
    ...(urls.some(isOnThisMachine) && { 'delivery.allowPrivate': 'true' }),
    // A short retry window, because a CI job should not wait hours for a receiver.
    ...(purpose === 'ci' && { 'delivery.retryFor': '10s' }),
    // A queue of its own: services that share a queue deliver each other's messages.
    ...(purpose === 'service' && {
      store: 'sqlite:./hooks.db',
      writeKey: newWriteKey(),
      'delivery.strategy': 'fallback',
    }),
  };
}

/** Creates a write key. Write keys are public, as in the pages of a site, so a config file can contain one. */
function newWriteKey(): string {
  return randomBytes(16).toString('hex');
}

/** Takes the answers from the flags, and asks for the others on a terminal. Undefined if the user cancels. */
async function answersOf(options: InitOptions, io: Io): Promise<InitAnswers | undefined> {
  const secrets = await readSecretFlags(options, io);
  const isSigned = secrets === undefined ? (io.env['HOOKS_SECRET'] ?? '') !== '' : true;
  const given = { purpose: options.for ?? 'receiver', urls: options.url ?? [FIRST_URL], isSigned };
  const isInteractive =
    io.stdin.isTTY === true && io.stderrIsTty && options.yes !== true && options.quiet !== true;
  if (!isInteractive) return given;
  return askQuestions({
    given,
    asksPurpose: options.for === undefined,
    asksUrl: options.url === undefined,
    asksSecret: secrets === undefined,
    io,
    urlProblem,
  });
}

function urlProblem(url: string): string | undefined {
  try {
    validateUrls([url], 'the URL');
    return undefined;
  } catch (error) {
    return error instanceof ConfigError ? printable(error.message) : String(error);
  }
}

/** The command to try after `hooks init`. Double quotes around the URL let the shell expand variables in the URL. */
const NEXT_COMMAND: Readonly<Record<InitPurpose, (url: string) => string>> = {
  receiver: () => 'hooks send track --event Signup',
  ci: (url) => `hooks test ${/^[\w:/.-]+$/.test(url) ? url : `"${url}"`}`,
  service: () => 'hooks serve',
};

/**
 * Says that the URLs of the written config are tried in order, because users who give several can expect that each gets
 * every message.
 */
const FALLBACK_NOTE =
  '\nA further URL gets only the messages that the URLs before it do not accept. To\nsend every message to each URL, write two destinations instead of `webhooks`, as\nthe lines at the end of the file show (`sources`).\n';

const UNSIGNED_WARNING =
  'the messages of this service are unsigned, so a receiver cannot tell who sent them; write sharedSecret: ${HOOKS_SECRET} into the config';

function printResult(
  file: string,
  { purpose, urls: [url = '', ...others], isSigned, isFound }: InitAnswers & { readonly isFound: boolean },
  options: InitOptions,
  io: Io,
): void {
  const config = isFound ? '' : ` -c ${printable(file)}`;
  const next = ['hooks doctor', NEXT_COMMAND[purpose](printable(url))].map(
    (command) => io.named(command) + config,
  );
  if (options.output === 'json') {
    io.out(jsonLine({ file, next }));
    return;
  }
  io.out(`Wrote ${printable(file)}\n`);
  if (options.quiet) return;
  io.out(`\nTry next:\n${next.map((line) => `  ${line}\n`).join('')}`);
  if (purpose === 'service' && others.length > 0) io.out(FALLBACK_NOTE);
  if (isSigned && !io.env['HOOKS_SECRET']) {
    io.note('note: the config takes the secret from HOOKS_SECRET, which is not set: export HOOKS_SECRET=…');
  }
  if (purpose === 'service' && !isSigned) {
    io.note(`${io.errColor.yellow('warning:')} ${UNSIGNED_WARNING}`);
  }
}

/** Says what this Node lacks to open the queue of `hooks serve`, and how to install it. */
async function noteQueueProblem(io: Io): Promise<void> {
  const { queueFileProblem } = await import('../../../stores/open.ts');
  const problem = await queueFileProblem();
  if (problem === undefined) return;
  io.note(`note: hooks serve keeps its queue in a file: ${problem.message}`);
  if (problem.hint !== undefined) noteHint(io, problem.hint);
}

/**
 * Writes a file that only its owner can read, completely or not at all. Errors show the name `file`. Throws ConfigError if
 * the file exists, unless `isReplaced`, and InputError if it cannot be written.
 */
function writePrivately(
  target: string,
  text: string,
  { file, isReplaced }: { readonly file: string; readonly isReplaced: boolean },
): void {
  try {
    writeInOnePiece(target, text, { isReplaced });
  } catch (cause) {
    // The cause is always a Node.js error, because only file operations can fail here.
    if ((cause as NodeJS.ErrnoException).code !== 'EEXIST') throw unwritableFile(file, cause, target);
    const hint = 'add --force to overwrite it';
    throw new ConfigError(`There is ${printable(file, 200)} already`, { origin: file, hint });
  }
}
