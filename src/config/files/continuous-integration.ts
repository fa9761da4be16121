/** Whether no person watches: continuous integration sets CI, to `true`, `1` or the name of a product. */
export function isContinuousIntegration({ CI = '' }: Readonly<NodeJS.ProcessEnv>): boolean {
  return !['', '0', 'false'].includes(CI.toLowerCase());
}
