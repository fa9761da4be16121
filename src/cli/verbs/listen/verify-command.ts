import { resolve } from 'node:path';
import { printable } from '../../../redact.ts';
import type { Io } from '../../io.ts';
import type { ListenOptions } from './options.ts';

type Given = Pick<ListenOptions, 'secret' | 'secretFile' | 'scheme'>;

/**
 * Returns the command that verifies a saved request, and never contains the secret. It takes the secret from where `listen`
 * got it, or asks for it.
 */
export function verifyCommand(file: string, given: Given, { cwd, named }: Pick<Io, 'cwd' | 'named'>): string {
  const { secret, secretFile, scheme } = given;
  const isGiven = secret !== undefined || secretFile !== undefined;
  const files = secretFiles(given, cwd) ?? ['-'];
  const flags = [
    ...(scheme === undefined ? [] : [`--scheme ${quotedPath(scheme)}`]),
    ...(isGiven ? files.map((each) => `--secret-file ${quotedPath(each)}`) : []),
  ];
  return named(['hooks verify', ...flags, quotedPath(file)].join(' '));
}

/** The absolute paths of the files with the secrets. Undefined if a secret was given in another way. */
export function secretFiles(
  { secret, secretFile }: Pick<Given, 'secret' | 'secretFile'>,
  cwd: string,
): readonly string[] | undefined {
  const flags = secret ?? secretFile ?? [];
  const files = flags.flatMap((flag) => ('file' in flag && flag.file !== '-' ? [flag.file] : []));
  return files.length > 0 && files.length === flags.length
    ? files.map((file) => resolve(cwd, file))
    : undefined;
}

/** Quotes a path for a POSIX shell. */
export function quotedPath(path: string): string {
  return /^[\w./-]+$/.test(path) ? path : `'${printable(path).replaceAll("'", "'\\''")}'`;
}
