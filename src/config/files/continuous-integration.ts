/** Whether the command runs in continuous integration, which sets CI to `true`, `1` or the name of a product. */
export function isContinuousIntegration({ CI = '' }: Readonly<NodeJS.ProcessEnv>): boolean {
  return !['', '0', 'false'].includes(CI.toLowerCase());
}
