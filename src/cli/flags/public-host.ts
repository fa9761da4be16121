import { ExitCode, interruptedCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { flagError } from './flag-values.ts';

interface PublicHostQuestion {
  readonly urls: readonly string[];
  /** Whether the user has agreed already (`--yes`). */
  readonly yes: boolean;
  /** The question about the public hosts. */
  readonly text: (hosts: string) => string;
}

/**
 * Asks before real messages go to public hosts. Returns undefined to continue, or the exit code if the user declined. Does
 * not ask for hosts of this machine and of private networks. Throws ConfigError without a terminal and without --yes.
 */
export async function askForPublicHosts(
  { urls, yes, text }: PublicHostQuestion,
  io: Io,
): Promise<ExitCode | undefined> {
  if (yes) return undefined;
  const { publicHosts } = await import('../../app/compare/public-hosts.ts');
  const hosts = (await publicHosts(urls)).join(' and ');
  if (hosts === '') return undefined;
  if (io.stdin.isTTY !== true || !io.stderrIsTty) {
    const sentence = `There is no terminal at which to confirm sending to ${hosts}, a public host`;
    throw flagError('--yes', sentence, 'add --yes if every message may be sent there');
  }
  const { confirm, isCancel } = await import('@clack/prompts');
  const { stdin: input, stderr: output, signal } = io;
  const agreed = await confirm({ input, output, signal, message: text(hosts), initialValue: false });
  if (agreed === true) return undefined;
  io.note('Nothing was sent');
  return isCancel(agreed) ? (interruptedCode(io) ?? ExitCode.sigint) : ExitCode.negative;
}
