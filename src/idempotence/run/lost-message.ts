import { isJsonObject, type JsonObject, type JsonValue, type Message } from '../../message/types.ts';
import type { IdempotenceMistakeCode } from '../mistakes.ts';
import { proofMessage } from '../messages.ts';
import { isSameState } from '../state-difference.ts';
import type { ProofMessage } from '../subject.ts';
import type { KnownMessages } from './likely-messages.ts';
import type { ProofRunner } from './proof-runner.ts';

/** A message that the receiver loses, mostly because it takes the message for an earlier one. */
export interface LostMessage {
  readonly code: IdempotenceMistakeCode;
  /** The messages to send. The last one is lost. */
  readonly messages: readonly ProofMessage[];
  /** The state in which every message has had its effect. */
  readonly expected: string;
  readonly state: string;
}

/** Types of messages to search for losses with, the likeliest first: receivers mostly count the first types one by one. */
const LIKELY: readonly Message['type'][] = ['track', 'page', 'screen', 'identify', 'group'];
const MOST_TRIED = 3;

/**
 * Finds a message that is lost because another message has the same content, user, or part of the id. Reports nothing if the
 * receiver keeps a set, a maximum or the newest value, because then a further message rightly changes nothing.
 */
export async function findLostMessage(
  runner: ProofRunner,
  { messages, effective }: KnownMessages,
): Promise<LostMessage | undefined> {
  const likely = messages
    .filter(({ message }) => LIKELY.includes(message.type))
    .toSorted((one, other) => rank(one) - rank(other));
  for (const first of likely.filter((each) => effective.has(each)).slice(0, MOST_TRIED)) {
    const alone = await runner.stateAfter([first]);
    const others = likely.filter(({ message }) => message.type !== first.message.type);
    if (!isSameState(alone, runner.base)) return new LossSearch(runner, { first, alone, others }).find();
  }
  return undefined;
}

function rank({ message: { type } }: ProofMessage): number {
  return LIKELY.indexOf(type);
}

interface FirstMessage {
  readonly first: ProofMessage;
  /** State of the receiver after it got only the first message. */
  readonly alone: string;
  /** Messages whose type differs from the type of the first message. */
  readonly others: readonly ProofMessage[];
}

/** Searches for a second message that the receiver loses after the first one. */
class LossSearch {
  readonly #runner: ProofRunner;
  readonly #first: ProofMessage;
  readonly #alone: string;
  readonly #others: readonly ProofMessage[];

  constructor(runner: ProofRunner, { first, alone, others }: FirstMessage) {
    this.#runner = runner;
    this.#first = first;
    this.#alone = alone;
    this.#others = others;
  }

  async find(): Promise<LostMessage | undefined> {
    const lost =
      (await this.#byCutId(withOtherEnd)) ??
      (await this.#byCutId(withOtherBeginning)) ??
      (await this.#byContent()) ??
      (await this.#byCutId(withOtherCase, 'folds-ids')) ??
      (await this.#byCutId(withOtherPunctuation, 'folds-ids'));
    if (lost === undefined) return undefined;
    // Repeats the loss with a longer wait, because a receiver that works after its response may only have been slow.
    const counts = (state: string): boolean => !isSameState(state, lost.state);
    return counts(await this.#runner.stateAfter(lost.messages, counts)) ? undefined : lost;
  }

  /** Finds a message of another user that is lost only because its id resembles the id of the first message. */
  async #byCutId(
    likeId: (id: string) => string,
    code: LostMessage['code'] = 'cuts-ids-off',
  ): Promise<LostMessage | undefined> {
    const { messageId, message } = this.#first;
    if (likeId(messageId) === messageId) return undefined;
    const other = withOtherContent(ofOtherUser(message));
    const like = proofMessage(other, { label: 'one with a similar id', messageId: likeId(messageId) });
    if (!(await this.#isLost(like))) return undefined;
    const expected = await this.#with(this.#unlike(other, 'one with an unlike id'));
    if (isSameState(expected, this.#alone)) return undefined;
    return this.#lost(code, like, expected);
  }

  /** Tests whether a copy of the first message with another id is lost, but has an effect if any detail differs. */
  async #byContent(): Promise<LostMessage | undefined> {
    const { message } = this.#first;
    const twin = this.#unlike(message, 'one with the same content');
    if (!(await this.#isLost(twin))) return undefined;
    for (const different of [withDetail(message), later(message)]) {
      const almost = this.#unlike(different, 'one that differs in a detail');
      const both = await this.#with(almost);
      if (isSameState(both, this.#alone)) continue;
      const counts = !isSameState(both, await this.#runner.stateAfter([almost]));
      if (counts) return this.#lost('dedupes-by-content', twin, both);
    }
    return this.#byKeptFirst(message);
  }

  /** Detects that the earlier of two messages wins in either order, which no set, maximum or newest value would cause. */
  async #byKeptFirst(message: Message): Promise<LostMessage | undefined> {
    const other = withOtherContent(message);
    const newer = this.#unlike(later(other), 'a newer one of the same user');
    if (!(await this.#isLost(newer))) return undefined;
    const expected = await this.#runner.stateAfter([newer]);
    if (isSameState(expected, this.#runner.base) || this.#keepsUsers()) return undefined;
    if (isSameState(expected, this.#alone)) return this.#byUser();
    const older = this.#unlike(other, 'the older one');
    const second = { label: 'the newer one', messageId: withThirdEnds(older.messageId) };
    const reversed = await this.#runner.stateAfter([older, proofMessage(later(message), second)]);
    if (!isSameState(reversed, await this.#runner.stateAfter([older]))) return undefined;
    const isByUser = await this.#isLost(this.#unlike(withOtherName(later(other)), 'another one of the user'));
    return this.#lost(isByUser ? 'dedupes-by-user' : 'dedupes-by-content', newer, expected);
  }

  /** Whether the state names the first message's user, not its id: a receiver may rightly keep only a user's first data. */
  #keepsUsers(): boolean {
    const { messageId, message } = this.#first;
    const user = message.userId ?? message.anonymousId ?? '';
    return this.#alone.includes(user) && !this.#alone.includes(messageId);
  }

  /**
   * Tests a message of another type, if the states are only counts. Reports it if it has an effect alone and after another
   * user's message, but none after the first message of its own user, and if the first message has none after it either. A
   * count of users, or of users per type, does not behave like that.
   */
  async #byUser(): Promise<LostMessage | undefined> {
    const { userId, anonymousId } = this.#first.message;
    const user = {
      ...(userId !== undefined && { userId }),
      ...(anonymousId !== undefined && { anonymousId }),
    };
    for (const { label, messageId, message } of this.#others.slice(0, MOST_TRIED)) {
      const { userId: _, anonymousId: __, ...rest } = message;
      const other = proofMessage({ ...rest, ...user }, { label: `${label} of the same user`, messageId });
      const alone = await this.#runner.stateAfter([other]);
      if (isSameState(alone, this.#runner.base) || isSameState(alone, this.#alone)) continue;
      if (!(await this.#isLost(other))) return undefined;
      if (!isSameState(await this.#runner.stateAfter([other, this.#first]), alone)) return undefined;
      const expected = await this.#with(proofMessage(ofOtherUser(other.message), { label, messageId }));
      return isSameState(expected, this.#alone) ? undefined : this.#lost('dedupes-by-user', other, expected);
    }
    return undefined;
  }

  #unlike(message: Message, label: string): ProofMessage {
    return proofMessage(message, { label, messageId: unlikeId(this.#first.messageId) });
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

/** Returns the id reversed, with another first and last character, so that the two ids hardly share a start or an end. */
export function unlikeId(id: string): string {
  return withOtherBeginning(withOtherEnd(Array.from(id).toReversed().join('')));
}

function withOtherEnd(id: string): string {
  return id.slice(0, -1) + (id.endsWith('0') ? '1' : '0');
}

/** Recognizes UUIDs, whose case and hyphens stay unchanged: a column of the type uuid rightly ignores both. */
const UUID = /^[\da-f]{8}(?:-[\da-f]{4}){3}-[\da-f]{12}$/i;

function withOtherCase(id: string): string {
  if (UUID.test(id)) return id;
  return id === id.toUpperCase() ? id.toLowerCase() : id.toUpperCase();
}

function withOtherPunctuation(id: string): string {
  if (UUID.test(id)) return id;
  return id.includes('-') ? id.replaceAll('-', '_') : `${id}-`;
}

function withOtherBeginning(id: string): string {
  return (id.startsWith('a') ? 'b' : 'a') + id.slice(1);
}

/** Makes an id whose first and last characters differ from those of an id made by `unlikeId`. */
function withThirdEnds(id: string): string {
  return `c${id.slice(1, -1)}2`;
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

/** Adds a field that no receiver knows. */
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
