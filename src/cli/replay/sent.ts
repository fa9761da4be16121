import { toCapture } from '../../capture/to-capture.ts';
import type { Message } from '../../message/types.ts';
import type { Outcome } from '../../app/outcomes.ts';
import { orderKeysOf } from '../../message/order-keys.ts';
import type { ReplayEntry, FoundEntry, Origin } from '../../replay/replay-entry.ts';
import { messageTitleOf, type ResultFacts } from '../print/result-line.ts';
import { sentBodyText, type SendableMessage } from './entry-message.ts';
import type { ReplayOptions } from './options.ts';

/** Where an entry stands in the books. */
export interface Numbered<E extends ReplayEntry> {
  readonly entry: E;
  /** Over all inputs, from 0: what the checkpoint knows it by. */
  readonly index: number;
  /** In the ledger. */
  readonly number: number;
}

/**
 * What is kept of a message while it is under way: not its value, and not its entry, which would keep the piece of the
 * file around it in memory.
 */
export interface Sent extends Omit<Numbered<ReplayEntry>, 'entry'> {
  readonly origin: Origin;
  readonly bytes: number;
  readonly orderKeys: readonly string[];
  readonly facts: ResultFacts;
  /** As it stands in the file, for --failed. */
  readonly original: Uint8Array | undefined;
}

export function sentOf(
  { entry, index, number }: Numbered<FoundEntry>,
  ready: SendableMessage,
  { order, verbose, failed }: ReplayOptions,
): Sent {
  const { origin, bytes } = entry;
  const { message } = ready;
  return {
    index,
    number,
    origin,
    bytes: bytes.byteLength,
    orderKeys: order === 'user' ? orderKeysOf(message) : [],
    facts: {
      type: message.type,
      title: messageTitleOf(message),
      origin: `${origin.file}:${origin.line}`,
      body: verbose && sentBodyText(ready),
    },
    original:
      failed === undefined ? undefined : originalOf(entry, { isExact: ready.exactBody !== undefined }),
  };
}

/** An entry as it can be replayed again. A body that is sent as it is need not be JSON: it stays a capture. */
export function originalOf(
  { kind, bytes }: FoundEntry,
  { isExact }: { readonly isExact: boolean },
): Uint8Array {
  if (kind !== 'capture' || !isExact) return Buffer.from(bytes);
  return Buffer.from(JSON.stringify(toCapture({ method: 'POST', url: '/', headers: [], body: bytes })));
}

/** The outcome of a message that was not handed to the pipeline any more. */
export function unsentOf({ messageId = '' }: Message): Outcome {
  return { messageId, outcome: 'unsent', destinations: [] };
}
