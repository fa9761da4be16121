/** Whether a global switch is on the command line, for what is asked before or after commander has read it. */
export function isGiven(argv: readonly string[], name: 'quiet' | 'verbose'): boolean {
  const end = argv.indexOf('--');
  const short = new RegExp(`^-[a-z]*${name.charAt(0)}[a-z]*$`);
  return argv.slice(0, end === -1 ? undefined : end).some((word) => word === `--${name}` || short.test(word));
}
