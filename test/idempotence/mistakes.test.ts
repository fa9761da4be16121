import { describe, expect, it } from 'vitest';
import type { Clock } from '../../src/clock.ts';
import { sleep } from '../../src/clock.ts';
import { sampleMessages } from '../../src/idempotence/messages.ts';
import type { ScheduleCode } from '../../src/idempotence/plan/schedule.ts';
import type { ProofMessage, ProofResponse, Subject } from '../../src/idempotence/subject.ts';
import { proved } from './prove-model.ts';

const TIMEOUT = 'timeout';

/** State of a model. A kill keeps effects and ids, but cancels later work. */
interface Kept {
  readonly effects: string[];
  readonly ids: Set<string>;
  /** Number of requests since the first start. */
  readonly count: number;
  /** Runs work later, unless the model is killed or reset before. */
  readonly after: (ms: number, work: () => void) => void;
}

type Take = (message: ProofMessage, kept: Kept) => number | typeof TIMEOUT;

/** A receiver that responds after 20 ms. A kill hits before it has done anything, or after its response. */
function modelOf(clock: Clock, take: Take): Subject {
  let [effects, ids, life, count] = [[] as string[], new Set<string>(), 0, 0];
  const after = (ms: number, work: () => void): void => {
    const own = life;
    clock.after(ms, () => own === life && work());
  };
  return {
    reset: async () => void ([effects, ids, life] = [[], new Set(), life + 1]),
    kill: async () => void life++,
    revive: async () => undefined,
    gone: () => undefined,
    readState: async () => effects.join('\n'),
    send: async (message): Promise<ProofResponse> => {
      const own = life;
      await sleep(clock, 10);
      if (own !== life) return { kind: 'none', error: 'reset', ms: 10 };
      const status = take(message, { effects, ids, count: count++, after });
      await sleep(clock, status === TIMEOUT ? 5_000 : 10);
      if (own !== life) return { kind: 'none', error: 'reset', ms: 20 };
      if (status === TIMEOUT) return { kind: 'none', error: TIMEOUT, ms: 5_000 };
      return { kind: status < 300 ? 'taken' : 'failing', status, ms: 20 };
    },
  };
}

/** Stores ids, and runs `work` for unknown messages only. */
function once(work: (message: ProofMessage, kept: Kept) => void): Take {
  return (message, kept) => {
    if (!kept.ids.has(message.messageId)) {
      kept.ids.add(message.messageId);
      work(message, kept);
    }
    return 202;
  };
}

/** A receiver with an inbox, whose worker processes up to `each` messages every `ms`. */
function inbox(ms: number, each: number): Take {
  let waiting: string[] = [];
  return (message, { effects, ids, after }) => {
    if (ids.has(message.messageId)) return 202;
    if (ids.size === 0) {
      waiting = [];
      const drain = (): void => {
        effects.push(...waiting.splice(0, each));
        after(ms, drain);
      };
      after(ms, drain);
    }
    ids.add(message.messageId);
    waiting.push(message.messageId);
    return 202;
  };
}

const counting: Take = ({ messageId }, { effects, ids }) => {
  if (!ids.has(messageId)) effects.push(messageId);
  ids.add(messageId);
  return 200;
};

/** A receiver that locks a message while working on it. A kill leaves the lock. */
function keepsLock(clock: Clock): Subject {
  const model = modelOf(clock, counting);
  const locks = new Set<string>();
  let kills = 0;
  return {
    ...model,
    reset: async () => {
      locks.clear();
      await model.reset();
    },
    kill: async () => void kills++,
    send: async (message) => {
      if (locks.has(message.messageId)) return { kind: 'failing', status: 409, ms: 1 };
      locks.add(message.messageId);
      const before = kills;
      await sleep(clock, 100);
      if (kills !== before) return { kind: 'none', error: 'reset', ms: 100 };
      const response = await model.send(message);
      locks.delete(message.messageId);
      return response;
    },
  };
}

/** Has an effect and then fails, once. */
const failsOnce: Take = ({ messageId }, { effects, ids, count }) => {
  if (ids.has(messageId)) return 200;
  effects.push(messageId);
  if (count === 3) return 503;
  ids.add(messageId);
  return 200;
};

const aSetThatFails: Take = ({ message: { userId = '' } }, { effects, ids }) => {
  ids.add(`request ${ids.size}`);
  if (ids.size % 5 === 0) return 503;
  if (!effects.includes(userId)) effects.push(userId);
  return 200;
};

const aTier: Take = ({ messageId }, { effects, ids }) => {
  ids.add(messageId);
  effects[0] = `tier ${Math.floor((ids.size + 2) / 3)}`;
  return 200;
};

async function resultOf(take: Take, code: ScheduleCode, schedules = 5) {
  const { results } = await proved((clock) => modelOf(clock, take), { codes: [code], schedules });
  return results.find(({ check }) => check === code);
}

const MISTAKES: readonly (readonly [
  title: string,
  code: ScheduleCode,
  mistake: object,
  requests: number,
  take: Take,
])[] = [
  [
    'records the id, responds, and then works in a thread: a crash loses the message',
    'killed',
    { code: 'responds-before-storing' },
    1,
    once(({ messageId }, { effects, after }) => after(100, () => effects.push(messageId))),
  ],
  [
    'does the work and then fails at random',
    'after-5xx',
    { code: 'effect-despite-5xx' },
    2,
    ({ messageId }, { effects, ids, count }) => {
      if (ids.has(messageId)) return 200;
      effects.push(messageId);
      if (count % 7 === 3) return 503;
      ids.add(messageId);
      return 200;
    },
  ],
  [
    'keeps its lock when it fails',
    'after-5xx',
    { code: 'keeps-lock' },
    2,
    ({ messageId }, { effects, ids, count }) => {
      if (effects.includes(messageId)) return 200;
      if (ids.has(messageId)) return 409;
      ids.add(messageId);
      if (count % 13 === 12) return 500;
      effects.push(messageId);
      return 200;
    },
  ],
  [
    'never comes to rest after a repeated message',
    'twice',
    { code: 'never-settles' },
    2,
    ({ messageId }, { effects, ids, after }) => {
      const grow = (): void => {
        effects.push(messageId);
        after(150, grow);
      };
      if (!ids.has(messageId)) effects.push(messageId);
      else after(10, grow);
      ids.add(messageId);
      return 200;
    },
  ],
  [
    'uses up a running number for a repeated message',
    'twice',
    { code: 'skips-numbers', fix: expect.stringContaining('leave it out of --state') },
    3,
    ({ messageId, label }, { effects, ids }) => {
      const row = `row ${messageId}`;
      ids.add(`${ids.size}`);
      if (!ids.has(row)) effects.push(`${ids.size - effects.length}|${label}`);
      ids.add(row);
      return 200;
    },
  ],
  [
    'remembers the last five',
    'twice',
    { code: 'remembers-last', says: 'it forgets a message after 5 others' },
    7,
    ({ messageId }, { effects, ids }) => {
      if (ids.has(messageId)) return 200;
      effects.push(messageId);
      ids.add(messageId);
      if (ids.size > 5) ids.delete([...ids][0] ?? '');
      return 200;
    },
  ],
  [
    'sets the plan of a user to that of the last message',
    'twice',
    { code: 'overwrites-newer' },
    3,
    ({ message: { type, traits } }, { effects }) => {
      if (type === 'identify') effects[0] = JSON.stringify(traits);
      return 200;
    },
  ],
  [
    'deletes the ids of a user with the user',
    'twice',
    { code: 'overwrites-newer' },
    3,
    ({ messageId, message: { type, userId = '' } }, { effects, ids }) => {
      if (type === 'delete') {
        const kept = effects.filter((effect) => !effect.startsWith(`${userId} `));
        effects.splice(0, Infinity, ...kept);
        for (const id of [...ids].filter((each) => each.startsWith(`${userId} `))) ids.delete(id);
      } else if (!ids.has(`${userId} ${messageId}`)) {
        ids.add(`${userId} ${messageId}`);
        effects.push(`${userId} ${messageId}`);
      }
      return 200;
    },
  ],
  [
    'keeps the id of a message that it rejects while working on another',
    'interleaved',
    { code: 'keeps-id-after-failure' },
    2,
    ({ messageId }, { effects, ids, after }) => {
      if (ids.has(messageId)) return 200;
      ids.add(messageId);
      if (ids.has('busy')) return 503;
      ids.add('busy');
      after(5, () => ids.delete('busy'));
      effects.push(messageId);
      return 200;
    },
  ],
  [
    'does the work and then rejects a message while working on another',
    'interleaved',
    { code: 'effect-despite-5xx' },
    2,
    ({ messageId }, { effects, ids, after }) => {
      if (ids.has(messageId)) return 200;
      effects.push(messageId);
      if (ids.has('busy')) return 503;
      ids.add(messageId).add('busy');
      after(5, () => ids.delete('busy'));
      return 200;
    },
  ],
  [
    'keeps the id of a message that it rejects at each fifth request, so that the reference lacks the message',
    'once',
    { code: 'keeps-id-after-failure' },
    5,
    ({ messageId }, { effects, ids }) => {
      const requests = [...ids].filter((id) => id.startsWith('request ')).length + 1;
      ids.add(`request ${requests}`);
      if (ids.has(messageId)) return 200;
      ids.add(messageId);
      if (requests === 5) return 503;
      effects.push(messageId);
      return 200;
    },
  ],
  [
    'keeps ids in each of three processes',
    'twice',
    { code: 'dedupe-per-process' },
    2,
    (message, kept) => {
      const known = `${kept.count % 3} ${message.messageId}`;
      if (!kept.ids.has(known)) kept.effects.push(message.messageId);
      kept.ids.add(known);
      return 200;
    },
  ],
  [
    'keeps a checksum of ids, so that the reference lacks a message',
    'once',
    { code: 'cuts-ids-off' },
    2,
    ({ messageId }, { effects, ids }) => {
      const sum = Buffer.from(messageId).reduce((total, byte) => total + byte, 0) % 64;
      if (!ids.has(`${sum}`)) effects.push(messageId);
      ids.add(`${sum}`);
      return 200;
    },
  ],
  [
    'does the work after its response only while it is busy, so that a single message does not show it',
    'twice',
    { code: 'works-after-response' },
    3,
    ({ messageId }, { effects, after }) => {
      if (effects.length === 0) effects.push(messageId);
      else if (!effects.includes(messageId)) after(50, () => effects.push(messageId));
      return 200;
    },
  ],
  [
    'does not respond to known messages',
    'twice',
    { code: 'hangs-on-duplicates' },
    2,
    (message, kept) => (kept.ids.has(message.messageId) ? TIMEOUT : counting(message, kept)),
  ],
  [
    'ignores the case of ids',
    'once',
    { code: 'folds-ids' },
    2,
    (message, kept) => counting({ ...message, messageId: message.messageId.toLowerCase() }, kept),
  ],
  [
    'ignores punctuation in ids',
    'once',
    { code: 'folds-ids' },
    2,
    (message, kept) => counting({ ...message, messageId: message.messageId.replace(/\W|_/g, '') }, kept),
  ],
];

describe('proveIdempotence', () => {
  it.each(MISTAKES)('names the mistake of a receiver that %s', async (_, code, mistake, requests, take) => {
    const result = await resultOf(take, code);
    expect(result).toMatchObject({ outcome: 'failed', mistake });
    expect(result?.counterexample?.requests).toHaveLength(requests);
  });

  it.each([
    ['a set that rejects each fifth request', aSetThatFails],
    ['a tier by the number of messages', aTier],
  ])('finds nothing wrong with %s', async (_, take) => {
    expect(await resultOf(take, 'once')).toMatchObject({ outcome: 'passed' });
  });

  it('names a lock that outlives a crash and so loses the work', async () => {
    const { results } = await proved(keepsLock, { codes: ['killed'], schedules: 14 });
    expect(results).toMatchObject([{ outcome: 'failed', mistake: { code: 'keeps-lock' } }]);
  });

  it('waits only twice for the timeout of a message that the receiver knows', async () => {
    const take: Take = (message, kept) =>
      kept.ids.has(message.messageId) ? TIMEOUT : counting(message, kept);
    const result = await resultOf(take, 'twice');
    expect(result?.counterexample?.requests.at(-1)).toMatchObject({ error: TIMEOUT, tries: 2 });
  });

  it('mentions 5xx responses if the repeated reference differs for an unknown reason', async () => {
    await expect(resultOf(failsOnce, 'after-5xx')).rejects.toThrow(
      /responded with 5xx once during the reference/,
    );
    await expect(resultOf(failsOnce, 'twice')).rejects.toThrow(
      /responded with 5xx once during the reference/,
    );
  });

  it.each([
    ['one message every 3 s', inbox(3_000, 1)],
    ['one message every 1.5 s', inbox(1_500, 1)],
  ])('asks for more time instead of a verdict if a worker processes %s', async (_, take) => {
    await expect(resultOf(take, 'twice')).rejects.toThrow(/still changing when the time ended, 10s after/);
  });

  it('passes a receiver whose worker processes all messages every 6 s', async () => {
    expect(await resultOf(inbox(6_000, 100), 'twice')).toMatchObject({ outcome: 'passed' });
  });

  it('skips interleaved if all messages are of one user', async () => {
    const messages = sampleMessages({ now: 0, seed: 1 }).slice(0, 1);
    const { results } = await proved((clock) => modelOf(clock, counting), {
      codes: ['interleaved'],
      schedules: 2,
      messages,
    });
    expect(results).toMatchObject([{ outcome: 'skipped', reason: expect.stringContaining('of one user') }]);
  });
});
