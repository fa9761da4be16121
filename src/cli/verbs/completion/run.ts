import { join } from 'node:path';
import type { Command } from 'commander';
import { findProjectFile, findUserFile } from '../../../config/files/find-files.ts';
import { loadSettings, type Settings } from '../../../config/settings.ts';
import { resolvePath } from '../../../config/read-setting.ts';
import { BUILT_IN_SCHEMES } from '../../../signature/schemes/built-in.ts';
import type { SignatureScheme } from '../../../signature/schemes/scheme.ts';
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
    const own = ownWords(words);
    const settings = once(() => completionSettings(own, io));
    const { values, files } = await candidatesFor(program, words, {
      sources: async () => (await settings())?.sourceNames ?? [],
      destinations: async () => destinationNames(await settings()),
      schemes: async () => [...BUILT_IN_SCHEMES, ...(await ownSchemes(settings))].map(({ name }) => name),
      checks: () => checkCodes(own),
      deliveries: async (verb, start) => {
        const store = flagValue(own, STORE_FLAG);
        const place = store === undefined ? storeOf(await settings()) : resolvePath(io.cwd, store);
        return place === undefined
          ? []
          : deliveriesIn(place, { start, onlyDead: verb === 'retry' && !own.includes('--now') });
      },
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
  const named = flagValue(words, CONFIG_FLAG) ?? (env['HOOKS_CONFIG'] || undefined);
  const file = named ?? findProjectFile(cwd) ?? findUserFile(env);
  if (file !== undefined && /\.[cm]?[jt]s$/.test(file)) return undefined;
  return loadSettings({ flags: named === undefined ? {} : { config: named }, env, cwd });
}

/** The words before `--`. Later words belong to another program. */
function ownWords(words: readonly string[]): readonly string[] {
  const literalAt = words.indexOf('--');
  return literalAt === -1 ? words : words.slice(0, literalAt);
}

/** `-c FILE`, `-cFILE`, `--config FILE` or `--config=FILE`: the value is the group or the next word. */
const CONFIG_FLAG = /^(?:-c(.*)|--config(?:=(.*))?)$/s;
const STORE_FLAG = /^--store(?:=(.*))?$/s;
const SCHEME_FLAG = /^--scheme(?:=(.*))?$/s;

/** Returns the value of a flag among the words. */
function flagValue(words: readonly string[], flag: RegExp): string | undefined {
  const flagAt = words.findIndex((word) => flag.test(word));
  if (flagAt === -1) return undefined;
  const attached = flag
    .exec(words[flagAt] ?? '')
    ?.slice(1)
    .find((value) => value);
  return attached ?? words[flagAt + 1];
}

/** Returns the config's custom schemes. Ignores a config that cannot be read, because the built-in schemes need none. */
async function ownSchemes(
  settings: () => Promise<Settings | undefined>,
): Promise<readonly SignatureScheme[]> {
  try {
    return (await settings())?.ownSchemes ?? [];
  } catch {
    return [];
  }
}

/** Returns the checks of `hooks test`: those of --state, or those of the built-in schemes of --scheme. */
async function checkCodes(words: readonly string[]): Promise<readonly Completion[]> {
  if (words.some((word) => /^--state(?:=|$)/.test(word))) {
    const { proofCodes, proofTitle } = await import('../../../idempotence/prove.ts');
    return proofCodes().map((code) => ({ value: code, about: proofTitle(code) }));
  }
  const { checksFor } = await import('../../../check/checks.ts');
  const named = flagValue(words, SCHEME_FLAG)?.split(',');
  const schemes = named && BUILT_IN_SCHEMES.filter(({ name }) => named.includes(name));
  return checksFor(schemes).map(({ code, title }) => ({ value: code, about: title }));
}

function storeOf(settings: Settings | undefined): string | undefined {
  return settings && (settings.store ?? join(settings.dataDir, 'hooks.db'));
}

/** Maximum number of ids to offer: about a screen. */
const MAX_IDS = 50;

async function deliveriesIn(
  place: string,
  selection: { readonly start: string; readonly onlyDead: boolean },
): Promise<readonly Completion[]> {
  const { findNewestDeliveries } = await import('../../../stores/open.ts');
  const found = await findNewestDeliveries(place, { ...selection, limit: MAX_IDS });
  return found.map(({ id, type, state }) => ({ value: id, about: `${type}, ${state}` }));
}

/** Reads the names from the list of keys: reading the sources would fail if a variable of a secret is unset in the shell. */
function destinationNames(settings: Settings | undefined): string[] {
  const names = (settings?.list() ?? []).flatMap(
    ({ key }) => /\.destinations\.([^.]+)\./.exec(key)?.[1] ?? [],
  );
  return names.length === 0 ? ['Webhooks'] : [...new Set(names)];
}
