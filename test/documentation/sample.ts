/** Parts of output that differ from run to run, with their masks. Columns are as wide as their content. */
const MASKS: readonly (readonly [pattern: RegExp, mask: string])[] = [
  [/\b\d{4}-\d\d-\d\dT[\d:.]+Z/g, 'TIME'],
  [/\b\d\d:\d\d:\d\d(?:\.\d+)?\b/g, 'CLOCK'],
  [/<?\b\d+(?:\.\d+)? ?(?:ms|µs|s|m)(?![\w/])/g, 'DURATION'],
  [/\b[\d,.]+ a second/g, 'RATE'],
  [/(?<=:\/\/[\w.-]+:)\d+/g, 'PORT'],
  [/\b[0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}\b/g, 'UUID'],
  [/--seed \d+|seed \d+/g, 'SEED'],
  [/ {2,}/g, ' '],
  [/ +$/gm, ''],
];

export function masked(text: string): string {
  return MASKS.reduce((result, [pattern, mask]) => result.replaceAll(pattern, mask), text);
}

/** Returns whether the output has the lines of a sample, one after another. `…` in a sample stands for any text. */
export function isShown(sample: string, output: string): boolean {
  const escaped = masked(sample.trimEnd())
    .split('…')
    .map((part) => part.replaceAll(/[$()*+.?[\\\]^{|}]/g, '\\$&'))
    .join('[^]*?');
  return new RegExp(`^${escaped}$`, 'm').test(masked(output));
}
