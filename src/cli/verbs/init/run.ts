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

/** Runs `hooks init`: writes a commented config, and says what to try next. */
export async function initialize(file: string, options: InitOptions, io: Io): Promise<ExitCode> {
  const target = resolve(io.cwd, file);
  validateName(file);
  if (options.force !== true) rejectSecondConfig(target, io.cwd);
  if (options.url !== undefined) validateUrls(options.url, '--url');
  const answers = await answersOf(options, io);
  if (answers === undefined) return interruptedCode(io) ?? ExitCode.sigint;
  const text = configTemplate({ urls: answers.urls, inForce: settingsInForce(answers) });
  writePrivately(target, text, { file, isForced: options.force ?? false });
  printResult(file, { ...answers, isFound: findProjectFile(io.cwd) === target }, options, io);
  return ExitCode.ok;
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

/** Throws ConfigError when the folder has a config already: it may be the one that is found, and the new one would have no effect. */
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

/** Throws ConfigError for URLs that no config could use, or should not keep. */
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

/** Whether a URL holds a secret apart from its references. A password that is a reference may have a user's name before it. */
function holdsSecret(url: string): boolean {
  const rest = withoutReferences(url, MASK).replace(/\/\/[^/?#@]*:\*{3}@/, `//${MASK}@`);
  return redactUrl(rest) !== rest;
}

/** Whether the URL leads to this machine, as far as its text says. */
function isOnThisMachine(url: string): boolean {
  return URL.canParse(url) && isLoopbackHost(new URL(url).hostname);
}

/** What the config is for says which settings are in force besides the webhooks. */
function settingsInForce({ purpose, urls, isSigned }: InitAnswers): TemplateOptions['inForce'] {
  return {
    ...(isSigned && { sharedSecret: '${HOOKS_SECRET}' }),
    // A webhook on this machine gets nothing of `serve` without it.
    ...(urls.some(isOnThisMachine) && { 'delivery.allowPrivate': 'true' }),
    // A job should not wait for hours.
    ...(purpose === 'ci' && { 'delivery.retryFor': '10s' }),
    ...(purpose === 'service' && { writeKey: newWriteKey(), 'delivery.strategy': 'fallback' }),
  };
}

/** Write keys are public, as in the pages of a site: a new one may stand in the file. */
function newWriteKey(): string {
  return randomBytes(16).toString('hex');
}

/** Takes the answers from the flags, and asks for the others on a terminal. Undefined when the person cancels. */
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

/** The URL stands in double quotes, where the shell fills in its references. */
const NEXT_COMMAND: Readonly<Record<InitPurpose, (url: string) => string>> = {
  receiver: () => 'hooks send track --event Signup',
  ci: (url) => `hooks test ${/^[\w:/.-]+$/.test(url) ? url : `"${url}"`}`,
  service: () => 'hooks serve',
};

/** What the strategy of the written config means, which may be the opposite of what several URLs were given for. */
const FALLBACK_NOTE =
  '\nA further URL gets only what those before it do not take: where each must get\nall, write two destinations (`destinations`) in place of `webhooks`.\n';

const UNSIGNED_WARNING =
  'what this service sends is unsigned, so that a receiver cannot tell who sends it; write sharedSecret: ${HOOKS_SECRET} into the config';

function printResult(
  file: string,
  { purpose, urls: [url = '', ...others], isSigned, isFound }: InitAnswers & { readonly isFound: boolean },
  options: InitOptions,
  io: Io,
): void {
  const config = isFound ? '' : ` -c ${printable(file)}`;
  const next = ['hooks doctor', NEXT_COMMAND[purpose](printable(url))].map((command) => command + config);
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

interface ConfigWriteOptions {
  /** The name that errors show. */
  readonly file: string;
  /** Whether it may replace an existing file. */
  readonly isForced: boolean;
}

/** Writes a file that only its owner may read, whole or not at all. Throws ConfigError when there is one already, InputError when it cannot be written. */
function writePrivately(target: string, text: string, { file, isForced }: ConfigWriteOptions): void {
  try {
    writeInOnePiece(target, text, { isReplaced: isForced });
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'EEXIST') throw fileExists(file); // of a file operation
    throw unwritableFile(file, cause);
  }
}

function fileExists(file: string): ConfigError {
  return new ConfigError(`There is ${printable(file, 200)} already`, {
    origin: file,
    hint: 'add --force to overwrite it',
  });
}
