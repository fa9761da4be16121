import { ConfigError } from '../../errors.ts';

type Flag = `--${string}`;

/** Which other flags a flag needs or excludes. */
export interface FlagRule {
  readonly flag: Flag;
  /** The flag without which this one has no effect. */
  readonly needs?: Flag;
  /** The flags that cannot be given with this one. */
  readonly excludes?: readonly Flag[];
  readonly hint: string;
}

/** Throws ConfigError for flags that do not go together. `given` has the flags by commander's names; one that is undefined is not given. */
export function rejectConflicts(given: object, rules: readonly FlagRule[]): void {
  const names = new Set(Object.entries(given).flatMap(([name, value]) => (value === undefined ? [] : name)));
  const isGiven = (flag: Flag): boolean => names.has(attributeOf(flag));
  for (const { flag, needs, excludes = [], hint } of rules.filter((rule) => isGiven(rule.flag))) {
    if (needs !== undefined && !isGiven(needs)) {
      throw conflict(flag, `\`${flag}\` is for \`${needs}\`, which is not given`, hint);
    }
    const other = excludes.find(isGiven);
    if (other === undefined) continue;
    throw conflict(flag, `\`${flag}\` and \`${other}\` cannot be given together`, hint);
  }
}

/** `--cert-out` is `certOut`. */
function attributeOf(flag: Flag): string {
  return flag.slice(2).replace(/-(\w)/g, (_, letter: string) => letter.toUpperCase());
}

/** An error about the flags themselves. */
export function conflict(flag: string, sentence: string, hint?: string): ConfigError {
  return new ConfigError(sentence, { flag, hint });
}
