import type { ReceivedMessage } from '../receiver/messages/tracking-call.ts';
import { compareSnapshots } from './compare-snapshots.ts';
import {
  countText,
  type ArrivedMessage,
  type ExpectationResult,
  type MessageCheck,
} from './expectation-result.ts';
import { snapshotOf, type SnapshotUser } from './snapshot.ts';
import { formatSnapshot } from './snapshot-text.ts';

/** Maximum number of differing messages to show. */
const MAX_SHOWN = 10;

/** Keeps all messages, and compares them with a snapshot at the end. */
export class SnapshotCheck implements MessageCheck {
  readonly #messages: ReceivedMessage[] = [];

  add({ message }: ArrivedMessage): void {
    this.#messages.push(message);
  }

  /** Returns no results, because the result comes at the end: from `compare`, or from writing the snapshot. */
  results(): readonly ExpectationResult[] {
    return [];
  }

  get count(): number {
    return this.#messages.length;
  }

  get text(): string {
    return formatSnapshot(snapshotOf(this.#messages));
  }

  compare(before: readonly SnapshotUser[], file: string): ExpectationResult {
    const differing = compareSnapshots(before, snapshotOf(this.#messages));
    const about = { expectation: 'snapshot', filter: file } as const;
    if (differing.length === 0) return { ...about, isMet: true, said: countText(this.count, 'message') };
    const more = differing.length > MAX_SHOWN ? `, of which the first ${MAX_SHOWN} are shown` : '';
    const differ = `${countText(differing.length, 'message')} ${differing.length === 1 ? 'differs' : 'differ'}`;
    const said = `${differ}${more}; --update writes the file again`;
    return { ...about, isMet: false, said, differing: differing.slice(0, MAX_SHOWN) };
  }
}
