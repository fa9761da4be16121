/** The variables of all CI runners, so that each of them reads the output. */
export const RUNNERS = {
  GITHUB_ACTIONS: 'true',
  GITLAB_CI: 'true',
  TF_BUILD: 'True',
  TEAMCITY_VERSION: '2026.1',
} as const;

/** Workflow commands that runners accept anywhere in a line. */
const ANYWHERE = [
  '##[set-output name=token]x',
  '#\u00ad#[error]x',
  'section_start:1560896352:job[collapsed=true]',
  'section_end:1560896352:job',
  '##vso[task.setvariable variable=token]x',
  "##teamcity[buildProblem description='x']",
];
const BLANKS = '| |    |\t|\v|\u0085|\u00a0|\u1680|\u2003|\u3000|\ufeff|\u200b'.split('|');
/** Line breaks of all runners. */
const BREAKS = ['\n', '\r', '\r\n'];

/** Commands to all runners, one a value. */
export const COMMANDS: readonly string[] = [
  ...ANYWHERE,
  ...ANYWHERE.map((command) => `text ${command}`),
  ...BLANKS.map((blank) => `${blank}::stop-commands::x`),
  ...BREAKS.flatMap((end) => BLANKS.map((blank) => `text${end}${blank}::set-output name=a::b`)),
];

/** Returns the lines of a text that a runner would process. Reads as runners do: line by line, trimmed as .NET trims. */
export function obeyed(text: string): string[] {
  return text.split(/\r\n|[\r\n]/).filter((line) => {
    // eslint-disable-next-line no-control-regex -- colors begin with one
    const plain = line.replaceAll(/\u001b\[[\d;]*m/g, '').replaceAll(/[\u00ad\u200b\ufeff]/g, '');
    const trimmed = plain.replace(/^[\s\u0085]+/, '');
    return trimmed.startsWith('::') || /##(?:vso|teamcity)?\[|section_(?:start|end):/.test(plain);
  });
}

/** Returns all texts in JSON lines, including keys. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsIn(inner)]);
}
