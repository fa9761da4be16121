import type { AnswerCase } from './answer-case.ts';
import type { CommandResult } from './run-command.ts';
import { filledIn, type Values } from './scene.ts';

/** What an output lacks, and what it should not have said. */
export interface AnswerJudgement {
  /** `cause` and `fix`, where the output does not say them. */
  readonly lacks: readonly ('cause' | 'fix')[];
  /** Whatever makes it wrong rather than incomplete: misleading texts, another exit code. */
  readonly faults: readonly string[];
}

/** No output may have these: they blame hooks itself. */
const NEVER = ['Unexpected:', 'report this bug in hooks'];

export function judgeAnswer(
  { argv, cause, fix, never = [], exitCode = 1, faults = 1 }: AnswerCase,
  { stdout, stderr, exitCode: got }: CommandResult,
  values: Values,
): AnswerJudgement {
  const output = `${stdout}\n${stderr}`;
  const says = (text: string): boolean => patternOf(filledIn(text, values)).test(output);
  const told = output.match(/^ {4}wrong: /gm)?.length ?? 0;
  return {
    lacks: [...(says(cause) ? [] : ['cause' as const]), ...(says(fix) ? [] : ['fix' as const])],
    faults: [
      ...[...NEVER, ...never].filter(says).map((text) => `says ${text}`),
      ...(argv[0] === 'test' && told > faults ? [`tells ${told} faults instead of ${faults}`] : []),
      ...(got === exitCode ? [] : [`exit code ${got} instead of ${exitCode}`]),
    ],
  };
}

/** `…` stands for any text within a line. */
function patternOf(text: string): RegExp {
  return new RegExp(text.split('…').map(escaped).join('.*?'));
}

function escaped(text: string): string {
  return text.replace(/[\\^$.*+?()[\]{}|/]/g, String.raw`\$&`);
}
