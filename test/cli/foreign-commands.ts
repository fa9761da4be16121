/** Each variable that a runner of CI sets, so that all of them read what is printed. */
export const RUNNERS = {
  GITHUB_ACTIONS: 'true',
  GITLAB_CI: 'true',
  TF_BUILD: 'True',
  TEAMCITY_VERSION: '2026.1',
} as const;

/** What the runners obey wherever it stands in a line. */
const ANYWHERE = [
  '##[set-output name=token]x',
  '#\u00ad#[error]x',
  'section_start:1560896352:job[collapsed=true]',
  'section_end:1560896352:job',
  '##vso[task.setvariable variable=token]x',
  "##teamcity[buildProblem description='x']",
];
const BLANKS = [
  '',
  ' ',
  '    ',
  '\t',
  '\v',
  '\u0085',
  '\u00a0',
  '\u1680',
  '\u2003',
  '\u3000',
  '\ufeff',
  '\u200b',
];
/** What begins a line, for one runner or another. */
const BREAKS = ['\n', '\r', '\r\n'];

/** Commands to all runners, as a value of its own each. */
export const COMMANDS: readonly string[] = [
  ...ANYWHERE,
  ...ANYWHERE.map((command) => `text ${command}`),
  ...BLANKS.map((blank) => `${blank}::stop-commands::x`),
  ...BREAKS.flatMap((end) => BLANKS.map((blank) => `text${end}${blank}::set-output name=a::b`)),
];

/** The lines of a text that a runner obeys. Written as the runners read: by lines, trimmed as .NET trims, without what it skips. */
export function obeyed(text: string): string[] {
  return text.split(/\r\n|[\r\n]/).filter((line) => {
    // eslint-disable-next-line no-control-regex -- colors begin with one
    const plain = line.replaceAll(/\u001b\[[\d;]*m/g, '').replaceAll(/[\u00ad\u200b\ufeff]/g, '');
    const trimmed = plain.replace(/^[\s\u0085]+/, '');
    return trimmed.startsWith('::') || /##(?:vso|teamcity)?\[|section_(?:start|end):/.test(plain);
  });
}

/** All texts in JSON lines, keys too. */
export function textsIn(value: unknown): string[] {
  if (typeof value === 'string') return [value];
  if (typeof value !== 'object' || value === null) return [];
  return Object.entries(value).flatMap(([key, inner]) => [key, ...textsIn(inner)]);
}
