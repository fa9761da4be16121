import { describe, expect, it } from 'vitest';
import { DiagnosisQuota } from '../../src/receiver/signature-judge.ts';

describe('the quota of diagnoses', () => {
  it('is ten diagnoses per second', () => {
    let now = 5_000;
    const quota = new DiagnosisQuota(() => now);
    const diagnoses = (): number =>
      Array.from({ length: 20 }, () => quota.use(() => 1)).filter(Boolean).length;
    expect(diagnoses()).toBe(10);
    now += 999;
    expect(diagnoses()).toBe(0);
    now += 1;
    expect(diagnoses()).toBe(10);
  });

  it('is used up after 200 ms of processor time in a second', () => {
    let now = 5_000;
    const quota = new DiagnosisQuota(
      () => now,
      () => now,
    );
    const taken = [150, 150, 1].map((ms) => quota.use(() => (now += ms)));
    expect(taken).toEqual([5_150, 5_300, undefined]);
    now = 6_000;
    expect(quota.use(() => 'again')).toBe('again');
  });
});
