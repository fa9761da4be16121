import type { Variables } from './job-shell.ts';

/** The values that expressions of a workflow can name. */
export interface ExpressionContext {
  readonly secrets: Variables;
  readonly env: Variables;
  /** By the id of the step. */
  readonly outputs: Readonly<Record<string, Variables>>;
  readonly hasFailed: boolean;
}

/** Replaces each `${{ … }}` by its value. */
export function interpolated(text: string, context: ExpressionContext): string {
  return text.replaceAll(/\$\{\{(.*?)\}\}/g, (_, expression: string) => evaluated(expression, context));
}

/**
 * Returns the value of an expression: a literal, a value of the context or a status function, or the first of these that is
 * not empty (`||`). False is the empty text. Throws for every other expression.
 */
export function evaluated(expression: string, context: ExpressionContext): string {
  const terms = unwrapped(expression).split('||');
  return terms.map((term) => valueOf(term.trim(), context)).find((value) => value !== '') ?? '';
}

/** Removes `${{ }}`, which is optional in `if`. */
function unwrapped(expression: string): string {
  return /^\s*\$\{\{(.*)\}\}\s*$/.exec(expression)?.[1] ?? expression;
}

function valueOf(term: string, { secrets, env, outputs, hasFailed }: ExpressionContext): string {
  const [, literal, source, name = '', step = '', output = ''] =
    /^(?:'([^']*)'|(secrets|env)\.(\w+)|steps\.([\w-]+)\.outputs\.([\w-]+))$/.exec(term) ?? [];
  if (literal !== undefined) return literal;
  // As on GitHub, a value that does not exist is empty.
  if (source !== undefined) return (source === 'env' ? env : secrets)[name] ?? '';
  if (step !== '') return outputs[step]?.[output] ?? '';
  switch (term) {
    case 'always()':
      return 'true';
    case 'success()':
      return hasFailed ? '' : 'true';
    case 'failure()':
      return hasFailed ? 'true' : '';
    default:
      throw new Error(`Expected an expression that this runner knows, got ${term}`);
  }
}
