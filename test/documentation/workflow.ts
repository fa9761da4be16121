import { defaultLoaders } from 'cosmiconfig';

/** A step of a job that runs commands. */
export interface Step {
  readonly script: string;
  readonly env: Readonly<Record<string, string>>;
}

interface GitHubStep {
  readonly run?: string;
  readonly env?: Readonly<Record<string, unknown>>;
}

interface Job {
  /** GitHub's. */
  readonly steps?: readonly GitHubStep[];
  /** GitLab's. */
  readonly script?: string | readonly string[];
  readonly before_script?: string | readonly string[];
  readonly env?: Readonly<Record<string, unknown>>;
  readonly variables?: Readonly<Record<string, unknown>>;
}

/** Returns the jobs of a GitHub or GitLab workflow, or of a list of steps; none for another file. */
export function jobsOf(text: string): Step[][] {
  const file: unknown = defaultLoaders['.yaml']('a block', text);
  const isList = Array.isArray(file);
  const { jobs = file } = (isList ? {} : file) as { readonly jobs?: unknown };
  const all = isList ? [{ steps: file as readonly GitHubStep[] }] : Object.values(jobs as object);
  return all.flatMap((job: Job | null) => {
    const steps = job === null || typeof job !== 'object' ? [] : stepsOf(job);
    return steps.length === 0 ? [] : [steps];
  });
}

function stepsOf({ steps, script, before_script: before, env, variables }: Job): Step[] {
  if (Array.isArray(steps)) {
    return (steps as readonly GitHubStep[]).flatMap((step) =>
      step.run === undefined ? [] : [{ script: step.run, env: withSecrets({ ...env, ...step.env }) }],
    );
  }
  const lines = [before, script].flat().filter((line) => typeof line === 'string');
  return script === undefined ? [] : [{ script: lines.join('\n'), env: withSecrets({ ...variables }) }];
}

function withSecrets(env: Readonly<Record<string, unknown>>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(env).map(([name, value]) => [
      name,
      String(value).replaceAll(/\$\{\{ *secrets\.\w+ *\}\}/g, 's3cret'),
    ]),
  );
}
