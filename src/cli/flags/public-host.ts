import { printable } from '../../redact.ts';
import { ExitCode, interruptedCode } from '../exit-code.ts';
import type { Io } from '../io.ts';
import { flagError } from './flag-values.ts';

interface PublicHostQuestion {
  readonly urls: readonly string[];
  /** Whether `--yes` is given. It is only a flag: a config cannot confirm in place of a person. */
  readonly yes: boolean;
  /** The question about the public hosts. */
  readonly text: (hosts: string) => string;
}

/**
 * Asks before a command sends to a public host. Returns undefined to continue, or the exit code if the user declined. Throws
 * ConfigError without a terminal and without `--yes`.
 */
export async function askForPublicHosts(
  { urls, yes, text }: PublicHostQuestion,
  io: Io,
): Promise<ExitCode | undefined> {
  if (yes) return undefined;
  const { publicHostOf } = await import('../../app/load/public-host.ts');
  const found = await Promise.all(urls.map((url) => publicHostOf(new URL(url), io.env)));
  const hosts = new Set(found.flatMap((host) => (host === undefined ? [] : printable(host, 200))));
  if (hosts.size === 0) return undefined;
  const shown = [...hosts].join(' and ');
  if (io.stdin.isTTY !== true || !io.stderrIsTty) {
    const sentence = `There is no terminal at which to confirm sending to a public host (${shown})`;
    throw flagError(
      '--yes',
      sentence,
      'add --yes if the receiver is yours, or send to a host of your own network',
    );
  }
  const { confirm, isCancel } = await import('@clack/prompts');
  const { stdin: input, stderr: output, signal } = io;
  const agreed = await confirm({ input, output, signal, message: text(shown), initialValue: false });
  if (agreed === true) return undefined;
  io.note('Nothing was sent');
  return isCancel(agreed) ? (interruptedCode(io) ?? ExitCode.sigint) : ExitCode.negative;
}
