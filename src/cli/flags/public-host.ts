import { publicHostOf } from '../../app/load/public-host.ts';
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
  const found = await Promise.all(urls.map((url) => publicHostOf(new URL(url), io.env)));
  const hosts = found.flatMap((host) => (host === undefined ? [] : printable(host, 200)));
  if (hosts.length === 0) return undefined;
  const shown = [...new Set(hosts)].join(' and ');
  if (io.stdin.isTTY !== true || !io.stderrIsTty) {
    const sentence = `There is no terminal at which to confirm a public host (${shown})`;
    throw flagError(
      '--yes',
      sentence,
      'add --yes if the receiver is yours, or send to a host of your own network',
    );
  }
  const { confirm, isCancel } = await import('@clack/prompts');
  const confirmed = await confirm({
    input: io.stdin,
    output: io.stderr,
    signal: io.signal,
    message: text(shown),
    initialValue: false,
  });
  if (confirmed === true) return undefined;
  io.note('Nothing was sent');
  return isCancel(confirmed) ? (interruptedCode(io) ?? ExitCode.sigint) : ExitCode.negative;
}
