import { InputError } from '../errors.ts';

/** Maximum number of problems that an error lists. */
const MOST_SHOWN = 20;

/** Throws one error for all problems of a plan: a single one unchanged. */
export function throwProblems(problems: readonly InputError[]): void {
  const [first, ...others] = problems;
  if (first === undefined) return;
  if (others.length === 0) throw first;
  const shown = problems.slice(0, MOST_SHOWN).map(({ message }, index) => `(${index + 1}) ${message}`);
  const more = problems.length > MOST_SHOWN ? `; and ${problems.length - MOST_SHOWN} more` : '';
  const { file } = first;
  throw new InputError(
    `Expected a tracking plan, got ${problems.length} problems: ${shown.join('; ')}${more}`,
    {
      ...(file !== undefined && { file }),
      hint: 'correct each of them',
    },
  );
}
