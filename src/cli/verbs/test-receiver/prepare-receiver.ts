import { checkedReceiver, type CheckedReceiver } from '../../../app/check-receiver.ts';
import type { ConnectionOptions } from '../../../engine/options.ts';
import { connectionTo } from '../../flags/delivery/ca-file.ts';
import { headersOf } from '../../flags/header-lines.ts';
import { readFlagOrDefault } from '../../flags/setting-flags.ts';
import { warnOfOddSecrets } from '../../flags/signature/odd-secret.ts';
import { commandSecrets } from '../../flags/signature/secret-flags.ts';
import type { Io } from '../../io.ts';
import type { TestOptions } from './options.ts';

export interface ReceiverToTest {
  readonly url: string;
  /** Program and arguments that start the receiver. Empty if the receiver runs already. */
  readonly command: readonly string[];
}

/** A receiver, and the settings of the requests to it. */
export interface PreparedReceiver {
  readonly receiver: CheckedReceiver;
  /** Secrets of the receiver. The first one signs the requests. */
  readonly secrets: readonly string[];
  readonly connection: ConnectionOptions;
  readonly timeoutMs: number;
}

/** Time that a started receiver gets until it listens. Long, because a compiler may run first. */
export const START_TIMEOUT_MS = 30_000;

/** Reads the flags and settings of the requests. Throws ConfigError or InputError before anything is started or sent. */
export async function prepareReceiver(
  { url }: Pick<ReceiverToTest, 'url'>,
  options: TestOptions,
  io: Io,
): Promise<PreparedReceiver> {
  const secrets = await commandSecrets(options, 'sign', io);
  if (!options.quiet) warnOfOddSecrets(secrets, [options.scheme], io);
  const connection = await connectionTo(url, options, io);
  const timeoutMs = readFlagOrDefault('delivery.timeout', options.timeout);
  const headers = headersOf(options.header ?? []);
  const receiver = checkedReceiver({ url, headers, connection, proxyEnv: io.env });
  return { receiver, secrets, connection, timeoutMs };
}
