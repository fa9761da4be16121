import { isJsonObject, type JsonObject, type JsonValue, type Message } from '../../message/types.ts';
import { proofMessage } from '../messages.ts';
import { isSameState } from '../state-difference.ts';
import type { ProofMessage } from '../subject.ts';
import type { ProofRunner } from './proof-runner.ts';

/** Two different messages that the receiver takes for one, so that the second is lost. */
export interface LostMessage {
  readonly code: 'cuts-ids-off' | 'dedupes-by-content' | 'dedupes-by-user';
  readonly messages: readonly ProofMessage[];
  /** A state in which both have counted. */
  readonly expected: string;
  readonly state: string;
}

/** Types in the order in which they are likely to be counted one by one. */
const LIKELY: readonly Message['type'][] = ['track', 'page', 'screen', 'identify', 'group'];
const MOST_TRIED = 3;

/**
 * Finds whether a message is lost because another one is like it in what is no part of its identity: a part of its id, its content, its
 * user. Reports nothing of a receiver that keeps a set, a maximum or the newest value, where another message rightly changes nothing.
 */
export async function findLostMessage(
  runner: ProofRunner,
  effective: readonly ProofMessage[],
): Promise<LostMessage | undefined> {
  const candidates = effective.filter(({ message }) => LIKELY.includes(message.type));
  for (const first of candidates.toSorted((one, other) => rank(one) - rank(other)).slice(0, MOST_TRIED)) {
    const alone = await runner.stateAfter([first]);
    if (!isSameState(alone, runner.base)) return new LossSearch(runner, first, alone).find();
  }
  return undefined;
}

/** The place of its type in LIKELY. */
function rank({ message: { type } }: ProofMessage): number {
  return LIKELY.indexOf(type);
}

class LossSearch {
  readonly #runner: ProofRunner;
  readonly #first: ProofMessage;
  /** The state after the first message alone. */
  readonly #alone: string;

  constructor(runner: ProofRunner, first: ProofMessage, alone: string) {
    this.#runner = runner;
    this.#first = first;
    this.#alone = alone;
  }

  async find(): Promise<LostMessage | undefined> {
    return (
      (await this.#byCutId(withOtherEnd)) ??
      (await this.#byCutId(withOtherBeginning)) ??
      (await this.#byContent())
    );
  }

  /** Whether a message of another user counts with an unlike id, but not with one that is like the first message's. */
  async #byCutId(likeId: (id: string) => string): Promise<LostMessage | undefined> {
    const { messageId, message } = this.#first;
    const other = withOtherContent(ofOtherUser(message));
    const like = proofMessage(other, { label: 'one with a similar id', messageId: likeId(messageId) });
    if (!(await this.#isLost(like))) return undefined;
    const expected = await this.#with(this.#unlike(other, 'one with an unlike id'));
    if (isSameState(expected, this.#alone)) return undefined;
    return this.#lost('cuts-ids-off', like, expected);
  }

  /** Whether a message with the same content is lost, where any other detail would make it count. */
  async #byContent(): Promise<LostMessage | undefined> {
    const { message } = this.#first;
    const twin = this.#unlike(message, 'one with the same content');
    if (!(await this.#isLost(twin))) return undefined;
    for (const different of [withDetail(message), later(message)]) {
      const almost = this.#unlike(different, 'one that differs in a detail');
      const [both, one] = [await this.#with(almost), await this.#runner.stateAfter([almost])];
      const counts = !isSameState(both, this.#alone) && !isSameState(both, one);
      if (counts) return this.#lost('dedupes-by-content', twin, both);
    }
    return this.#byKeptFirst(message);
  }

  /** Whether the first of two messages wins whichever it is: nothing that keeps a set, a maximum or the newest value does that. */
  async #byKeptFirst(message: Message): Promise<LostMessage | undefined> {
    const other = withOtherContent(message);
    const newer = this.#unlike(later(other), 'a newer one of the same user');
    if (!(await this.#isLost(newer))) return undefined;
    const expected = await this.#runner.stateAfter([newer]);
    if (isSameState(expected, this.#alone) || isSameState(expected, this.#runner.base)) return undefined;
    const older = this.#unlike(other, 'the older one');
    const reversed = await this.#runner.stateAfter([older, this.#unlike(later(message), 'the newer one')]);
    if (!isSameState(reversed, await this.#runner.stateAfter([older]))) return undefined;
    const isByUser = await this.#isLost(this.#unlike(withOtherName(later(other)), 'another one of the user'));
    return this.#lost(isByUser ? 'dedupes-by-user' : 'dedupes-by-content', newer, expected);
  }

  #unlike(message: Message, label: string): ProofMessage {
    const reversed = Array.from(this.#first.messageId).toReversed().join('');
    return proofMessage(message, { label, messageId: withOtherBeginning(withOtherEnd(reversed)) });
  }

  #with(second: ProofMessage): Promise<string> {
    return this.#runner.stateAfter([this.#first, second]);
  }

  async #isLost(second: ProofMessage): Promise<boolean> {
    return isSameState(await this.#with(second), this.#alone);
  }

  #lost(code: LostMessage['code'], second: ProofMessage, expected: string): LostMessage {
    return { code, messages: [this.#first, second], expected, state: this.#alone };
  }
}

function withOtherEnd(id: string): string {
  return id.slice(0, -1) + (id.endsWith('0') ? '1' : '0');
}

function withOtherBeginning(id: string): string {
  return (id.startsWith('a') ? 'b' : 'a') + id.slice(1);
}

function ofOtherUser(message: Message): Message {
  const { userId, anonymousId } = message;
  return {
    ...message,
    ...(userId !== undefined && { userId: `${userId}-other` }),
    ...(anonymousId !== undefined && { anonymousId: `${anonymousId}-other` }),
  };
}

const DETAIL: JsonObject = { hooksTestDetail: 'other' };

/** The same with a field that no receiver knows. */
function withDetail(message: Message): Message {
  const { properties } = message;
  if (properties !== undefined) return { ...message, properties: { ...properties, ...DETAIL } };
  return { ...message, traits: { ...message.traits, ...DETAIL } };
}

function later(message: Message): Message {
  return { ...message, timestamp: new Date(Date.parse(message.timestamp) + 60_000).toISOString() };
}

function withOtherName(message: Message): Message {
  if (message.event !== undefined) return { ...message, event: `${message.event} Other` };
  return { ...message, name: 'Hooks Test Other' };
}

function withOtherContent(message: Message): Message {
  const { properties, traits } = message;
  return {
    ...message,
    ...(properties !== undefined && { properties: otherValues(properties) }),
    ...(traits !== undefined && { traits: otherValues(traits) }),
  };
}

function otherValues(object: JsonObject): JsonObject {
  return Object.fromEntries(Object.entries(object).map(([key, value]) => [key, otherValue(value)]));
}

function otherValue(value: JsonValue): JsonValue {
  if (typeof value === 'number') return value + 1;
  if (typeof value === 'string') return `${value}-other`;
  return isJsonObject(value) ? otherValues(value) : value;
}
