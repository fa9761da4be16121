import { expect } from 'vitest';
import type { AnswerCase } from './answer-case.ts';
import { judgeAnswer, type AnswerJudgement } from './judge-answer.ts';
import { runCommand } from './run-command.ts';
import { arrange, filledIn, type SceneTools } from './scene.ts';

/** Makes the mistake, and expects cause, fix and exit code, and nothing misleading. */
export async function expectAnswer(answerCase: AnswerCase, tools?: SceneTools): Promise<void> {
  const { faults, lacks, output } = await judged(answerCase, tools);
  expect({ faults, output }).toEqual({ faults: [], output });
  if (answerCase.missed === undefined) expect({ lacks, output }).toEqual({ lacks: [], output });
  else expect(lacks, 'it says cause and fix now: remove `missed`').not.toEqual([]);
}

async function judged(
  answerCase: AnswerCase,
  tools: SceneTools | undefined,
): Promise<AnswerJudgement & { readonly output: string }> {
  const { given = {}, argv, maxRequests = Infinity, faultsAfter } = answerCase;
  const { folder, values, requests, end } = await arrange(given, tools);
  try {
    const fill = (text: string): string => filledIn(text, values);
    const env = Object.entries(given.env ?? {}).map(([name, value]) => [name, fill(value)]);
    const result = await runCommand({
      argv: argv.map(fill),
      cwd: folder,
      env: Object.fromEntries(env) as Record<string, string>,
      stdin: given.stdin ?? '',
    });
    const { lacks, faults } = judgeAnswer(answerCase, result, values);
    const tooMany =
      requests() > maxRequests ? [`makes ${requests()} requests instead of ${maxRequests} at most`] : [];
    const output = `${result.stdout}\n${result.stderr}`;
    return { lacks, faults: [...faults, ...tooMany, ...(faultsAfter?.(values) ?? [])], output };
  } finally {
    await end();
  }
}
