import type { Command } from 'commander';
import { findProjectFile, findUserFile } from '../../../config/files/find-files.ts';
import { loadSettings, type Settings } from '../../../config/settings.ts';
import { once, type Io } from '../../io.ts';
import { candidatesFor, type Candidates, type Completion } from './candidates.ts';

/**
 * The last line that `hooks complete` prints is a colon and one of these numbers (cobra's protocol): it makes the completion
 * script of the shell complete files, nothing or folders besides the printed candidates.
 */
const DIRECTIVES = { files: 0, none: 4, folders: 16 } as const satisfies Record<Candidates['files'], number>;

/**
 * Prints the candidates for the last word. Never fails or prints an error, which would appear in the line that is being
 * typed.
 */
export async function printCompletions(program: Command, words: readonly string[], io: Io): Promise<void> {
  try {
    const settings = once(() => completionSettings(words, io));
    const { values, files } = await candidatesFor(program, words, {
      sources: async () => (await settings())?.sourceNames ?? [],
      destinations: async () => destinationNames(await settings()),
    });
    io.out(`${values.filter(isPlain).map(completionLine).join('')}:${DIRECTIVES[files]}\n`);
  } catch {
    io.out(`:${DIRECTIVES.none}\n`);
  }
}

/**
 * Whether a value has only harmless characters. Other values are not offered, because shells evaluate candidates, some
 * shells even twice.
 */
function isPlain({ value }: Completion): boolean {
  return /^[\w.,:@=/+-]+$/.test(value);
}

function completionLine({ value, about = '' }: Completion): string {
  return `${value}\t${about.replace(/[^\x20-\x7e]+/g, ' ')}\n`;
}

/** Loads the settings. Undefined for a config that is code, which Tab must not run. */
async function completionSettings(words: readonly string[], { env, cwd }: Io): Promise<Settings | undefined> {
  const named = configFlag(words) ?? (env['HOOKS_CONFIG'] || undefined);
  const file = named ?? findProjectFile(cwd) ?? findUserFile(env);
  if (file === undefined || /\.[cm]?[jt]s$/.test(file)) return undefined;
  return loadSettings({ flags: named === undefined ? {} : { config: named }, env, cwd });
}

/**
 * Returns the file of `-c FILE`, `-cFILE`, `--config FILE` or `--config=FILE`. Ignores words after `--`, which belong to
 * another program.
 */
function configFlag(words: readonly string[]): string | undefined {
  const literalAt = words.indexOf('--');
  const own = literalAt === -1 ? words : words.slice(0, literalAt);
  const flagAt = own.findIndex((word) => /^(?:-c|--config$|--config=)/.test(word));
  if (flagAt === -1) return undefined;
  const [, attached = ''] = /^(?:-c|--config=)(.*)$/s.exec(own[flagAt] ?? '') ?? [];
  return attached === '' ? own[flagAt + 1] : attached;
}

/** Reads the names from the list of keys: reading the sources would fail if a variable of a secret is unset in the shell. */
function destinationNames(settings: Settings | undefined): string[] {
  const names = (settings?.list() ?? []).flatMap(
    ({ key }) => /\.destinations\.([^.]+)\./.exec(key)?.[1] ?? [],
  );
  return names.length === 0 ? ['Webhooks'] : [...new Set(names)];
}
