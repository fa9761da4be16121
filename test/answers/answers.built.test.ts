import { afterAll, describe, expect, it } from 'vitest';
import { ALL_CASES, THEMES } from './cases/all.ts';
import { FAULTY_RECEIVERS } from './cases/faulty-receivers.ts';
import { expectAnswer } from './expect-answer.ts';
import { removeCertificates } from './scene.ts';

/** The share of cases whose output may not name cause and fix yet. */
const MISSED_SHARE = 0.05;

afterAll(removeCertificates);

describe.each(THEMES.filter(({ cases }) => cases.some(({ needsDisk }) => !needsDisk)))(
  '$title',
  ({ cases }) => {
    it.concurrent.each(cases.filter(({ needsDisk }) => !needsDisk))('$id: $title', (answerCase) =>
      expectAnswer(answerCase),
    );
  },
);

describe('the table', () => {
  it('has each id once, in kebab case', () => {
    const ids = ALL_CASES.map(({ id }) => id);
    expect(ids.filter((id, at) => ids.indexOf(id) !== at)).toEqual([]);
    expect(ids.filter((id) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(id))).toEqual([]);
  });

  it('has causes and fixes that say something', () => {
    const empty = ALL_CASES.filter(({ cause, fix }) => bare(cause).length < 8 || bare(fix).length < 8);
    expect(empty.map(({ id }) => id)).toEqual([]);
  });

  it('has 40 receivers with a planted mistake, of which hooks test names 38', () => {
    const { cases } = FAULTY_RECEIVERS;
    expect(cases.length).toBeGreaterThanOrEqual(40);
    expect(cases.filter(({ missed }) => missed !== undefined).length).toBeLessThanOrEqual(2);
  });

  it('names cause and fix of 95 % of the mistakes', () => {
    const missed = ALL_CASES.filter((answerCase) => answerCase.missed !== undefined);
    expect(missed.length).toBeLessThanOrEqual(ALL_CASES.length * MISSED_SHARE);
  });
});

/** Without what matches anything. */
function bare(text: string): string {
  return text.replaceAll('…', '').trim();
}
