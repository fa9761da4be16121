/** Parts of command lines that the tests of the docs do not run, with the reason. */
export const SKIPPED: readonly (readonly [part: RegExp, reason: string])[] = [
  [/^npm ci && /, 'installs the packages of the clone, in which this test runs'],
  [
    /^npm pack && npm install .*/,
    'installs for the user; the tests of the packed package pack and install it',
  ],
  [/^npm (?:install|i) .*\.tgz$/, 'installs; the tests of the packed package pack and install it'],
  [/^npm install .*@.*/, 'installs; another test checks that the package is tested with these versions'],
  [
    /^sudo (?:useradd|systemctl) .*/,
    'changes users and services of the machine; the tests of the systemd unit start the unit',
  ],
  [/^sudo -u hooks /, 'needs root; the command runs without sudo'],
];

/** Returns the part of a command line that runs here. */
export function runnable(line: string): string {
  return SKIPPED.reduce((rest, [part]) => rest.replace(part, ''), line);
}

/** Returns a command that takes minutes with fewer rounds. The tests of `--state` run its receiver at length. */
export function shortened(command: string): string {
  return command.replace(
    /^(hooks test .*--state .*) -- (?=python3 app\.py)/,
    '$1 --schedules 3 --late 1s -- ',
  );
}
