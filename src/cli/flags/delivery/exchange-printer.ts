import type { ExchangeObserver } from '../../../app/observed-transport.ts';
import { maskedHeader } from '../../../capture/to-capture.ts';
import { pairsOf } from '../../../receiver/response/forwarding.ts';
import { printable, redactUrl, withoutRepeated } from '../../../redact.ts';
import type { Io } from '../../io.ts';

/**
 * Prints the headers of requests and responses on stderr, as `curl -v` does: `> name: value`, `< name: value`. Masks the
 * shared `secrets` where a response repeats them.
 */
export function exchangePrinter(
  { note, errColor }: Pick<Io, 'note' | 'errColor'>,
  secrets: readonly string[],
): ExchangeObserver {
  const print = (mark: '<' | '>', name: string, value: string): void => {
    const [, shown] = maskedHeader([name, value]);
    note(`${errColor.dim(`${mark} ${printable(name)}:`)} ${printable(shown, 2_000)}`);
  };
  return {
    request: ({ url, headers }) => {
      note(`${errColor.dim('>')} POST ${printable(redactUrl(url), 2_000)}`);
      for (const [name, value] of pairsOf(headers)) print('>', name, value);
    },
    response: (status, headers) => {
      note(`${errColor.dim('<')} ${status}`);
      for (const [name, value] of headers) print('<', name, withoutRepeated(value, secrets));
    },
  };
}
