import { originText } from '../../../report/report.ts';
import { toCapture } from '../../../capture/to-capture.ts';
import type { ContentFacts } from '../../../message/content-facts.ts';
import type { Message } from '../../../message/types.ts';
import type { Outcome } from '../../../app/pipeline/outcomes.ts';
import { orderKeysOf } from '../../../message/outgoing-message.ts';
import type { ReplayEntry, FoundEntry, Origin } from '../../../replay/reading/replay-entry.ts';
import { messageTitleOf, type ResultFacts } from '../../print/result-line.ts';
import { sentBodyText, type SendableMessage } from '../../../message/sendable-message.ts';
import type { ReplayOptions } from './options.ts';
import type { RunPatterns } from './../../print/run-patterns.ts';

export interface Numbered<E extends ReplayEntry> {
  readonly entry: E;
  /** Index of the entry across all inputs, from 0. The checkpoint identifies entries by index. */
  readonly index: number;
  /** Number of the entry in the ledger, which `Ledger.open` returns and `Ledger.close` takes. */
  readonly number: number;
}

/**
 * The facts about a message in flight that are needed when it settles. Does not hold the entry or its value, because
 * they would keep the surrounding chunk of the file in memory.
 */
export interface Sent extends Omit<Numbered<ReplayEntry>, 'entry'> {
  readonly origin: Origin;
  readonly bytes: number;
  readonly orderKeys: readonly string[];
  readonly facts: ResultFacts;
  /** Line to write to the file of --failed if the message fails or stays unsent. Undefined without --failed. */
  readonly original: Uint8Array | undefined;
  /** Returns facts about the message, for comparing failed with delivered messages. */
  readonly content: (() => ContentFacts) | undefined;
}

export function sentOf(
  { entry, index, number }: Numbered<FoundEntry>,
  ready: SendableMessage,
  { order, verbose, failed, exact }: ReplayOptions,
  patterns: RunPatterns,
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
      origin: originText(origin),
      body: verbose && sentBodyText(ready),
    },
    content: patterns.contentOf(message, { index, bytes: bytes.byteLength }),
    original: failed === undefined ? undefined : originalOf(entry, { isExact: exact ?? false }),
  };
}

/** Returns the facts about a settled message. Names each field, because spreading `facts` takes 3 µs here. */
export function settledFacts(
  { type, title, origin, body }: ResultFacts,
  judgement: ResultFacts['judgement'],
  cause: ResultFacts['cause'],
): ResultFacts {
  return { type, title, origin, body, judgement, cause };
}

/**
 * Returns an entry as a line for --failed: a copy of its bytes or, with --exact, a capture, which holds any bytes on
 * one line.
 */
export function originalOf(
  { bytes, request }: FoundEntry,
  { isExact }: { readonly isExact: boolean },
): Uint8Array {
  if (!isExact) return Buffer.from(bytes);
  const { method, url, headers } = request ?? { method: 'POST', url: '/', headers: [] };
  return Buffer.from(JSON.stringify(toCapture({ method, url, headers, body: bytes })));
}

/** Returns the outcome of a message that the closed pipeline rejected. */
export function unsentOf({ messageId = '' }: Message): Outcome {
  return { messageId, outcome: 'unsent', destinations: [] };
}
