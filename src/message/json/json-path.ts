export type PathStep = string | number;

/** Formats a path, such as `properties.items[3].price`. Quotes a key that is not a plain word: `traits["first name"]`. */
export function formatPath(steps: readonly PathStep[]): string {
  return steps.map((step, at) => formatStep(step, at === 0)).join('');
}

function formatStep(step: PathStep, isFirst: boolean): string {
  if (typeof step === 'number') return `[${step}]`;
  if (!/^[$\w]+$/.test(step)) return `[${JSON.stringify(step)}]`;
  return isFirst ? step : `.${step}`;
}
