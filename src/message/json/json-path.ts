export type PathStep = string | number;

/** `properties.items[3].price`; a key that is not a plain word is quoted: `traits["first name"]`. */
export function formatPath(steps: readonly PathStep[]): string {
  return steps.map((step, at) => formatStep(step, at === 0)).join('');
}

function formatStep(step: PathStep, isFirst: boolean): string {
  if (typeof step === 'number') return `[${step}]`;
  if (!/^[$\w]+$/.test(step)) return `[${JSON.stringify(step)}]`;
  return isFirst ? step : `.${step}`;
}
