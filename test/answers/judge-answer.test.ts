import { describe, expect, it } from 'vitest';
import type { AnswerCase } from './answer-case.ts';
import { judgeAnswer } from './judge-answer.ts';

const CASE: AnswerCase = {
  id: 'a',
  title: 'a',
  argv: [],
  cause: 'nothing listens at {url}',
  fix: 'start … first',
  never: ['is it running?'],
  exitCode: 2,
};
const VALUES = { url: 'http://a/?b=(c)' };
const RIGHT = {
  exitCode: 2,
  stdout: '',
  stderr: 'nothing listens at http://a/?b=(c)\nhint:  start it first',
};

describe('the judgement of an output', () => {
  it('finds nothing wrong with one that says cause and fix', () => {
    expect(judgeAnswer(CASE, RIGHT, VALUES)).toEqual({ lacks: [], faults: [] });
  });

  it('misses what does not stand there, on one line', () => {
    const stderr = RIGHT.stderr.replace('start it first', 'start\nfirst');
    expect(judgeAnswer(CASE, { ...RIGHT, stderr }, VALUES).lacks).toEqual(['fix']);
    expect(judgeAnswer(CASE, RIGHT, { url: 'http://b/' }).lacks).toEqual(['cause']);
  });

  it('blames misleading texts, bugs of hooks itself, and another exit code', () => {
    const stdout = 'is it running?\nUnexpected: boom';
    expect(judgeAnswer(CASE, { ...RIGHT, stdout, exitCode: 1 }, VALUES).faults).toEqual([
      'says Unexpected:',
      'says is it running?',
      'exit code 1 instead of 2',
    ]);
  });

  it('blames hooks test for several mistakes where one was made', () => {
    const wrong = '    wrong: nothing listens at http://a/?b=(c)\n    fix:   start it first\n';
    const test = { ...CASE, argv: ['test', '{url}'] };
    expect(judgeAnswer(test, { ...RIGHT, stdout: wrong }, VALUES).faults).toEqual([]);
    const { faults } = judgeAnswer(test, { ...RIGHT, stdout: wrong + wrong }, VALUES);
    expect(faults).toEqual(['tells 2 faults instead of 1']);
  });
});
