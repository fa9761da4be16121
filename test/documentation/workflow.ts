import { defaultLoaders } from 'cosmiconfig';

/** A step of a workflow that runs commands. */
export interface Step {
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
}

interface Job {
  readonly steps?: readonly RawStep[];
}

interface RawStep {
  readonly run?: string;
  readonly env?: Readonly<Record<string, string>>;
}

/** Returns the steps of a GitHub workflow or of a part of one; none for another file. */
export function stepsOf(text: string): Step[] {
  const file = defaultLoaders['.yaml']('a block', text) as
    readonly RawStep[] | { readonly jobs?: Readonly<Record<string, Job>> };
  const steps = Array.isArray(file)
    ? (file as readonly RawStep[])
    : Object.values((file as { jobs?: Readonly<Record<string, Job>> }).jobs ?? {}).flatMap(
        (job) => job.steps ?? [],
      );
  return steps.flatMap(({ run, env = {} }) =>
    run === undefined ? [] : [{ script: run, env: withSecrets(env) }],
  );
}

function withSecrets(env: Readonly<Record<string, string>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name,
      value.replaceAll(/\$\{\{ *secrets\.\w+ *\}\}/g, 's3cret'),
    ]),
  );
}
