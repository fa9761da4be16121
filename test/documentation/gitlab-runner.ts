import { defaultLoaders } from 'cosmiconfig';
import { expectKeys, JobShell, type Variables } from './job-shell.ts';

interface GitlabJob {
  readonly variables?: Variables;
  readonly before_script?: readonly string[];
  readonly script: readonly string[];
  readonly after_script?: readonly string[];
  readonly artifacts?: {
    /** @default 'on_success' */
    readonly when?: 'always' | 'on_success' | 'on_failure';
    readonly paths?: readonly string[];
    readonly reports?: { readonly junit?: readonly string[] };
  };
}

/** The result of a job on GitLab. */
export interface GitlabResult {
  readonly status: 'success' | 'failed';
  readonly log: string;
  /** The texts of the kept files, by path. */
  readonly artifacts: Readonly<Record<string, string>>;
  /** The texts of the reports that a merge request shows, by path. */
  readonly junit: Readonly<Record<string, string>>;
}

const BASH = ['-eo', 'pipefail'];

/** The keys that this runner honors, or that do not change what the scripts do. */
const KNOWN = ['image', 'timeout', 'variables', 'before_script', 'script', 'after_script', 'artifacts'];

/**
 * Runs the only job of a .gitlab-ci.yml as the runner of GitLab does. `base` has the variables of the machine, `secrets` those
 * of the project, which GitLab prefers to the variables of the file.
 */
export async function runOnGitlab(
  text: string,
  {
    cwd,
    base,
    secrets = {},
  }: { readonly cwd: string; readonly base: Variables; readonly secrets?: Variables },
): Promise<GitlabResult> {
  const [job, ...others] = Object.values(
    defaultLoaders['.yaml']('.gitlab-ci.yml', text) as Record<string, GitlabJob>,
  ); // GitLab's format
  if (job === undefined || others.length > 0) throw new Error('Expected a file with one job');
  expectKeys(job, KNOWN);
  const { variables, before_script: before = [], script, after_script: after, artifacts = {} } = job;
  const env = { ...base, ...variables, ...secrets, CI: 'true', GITLAB_CI: 'true', CI_PROJECT_DIR: cwd };
  const shell = new JobShell(cwd);
  try {
    const main = await shell.run([...before, ...script].join('\n'), BASH, env);
    // The exit code of after_script does not count.
    const last = after && (await shell.run(after.join('\n'), BASH, env));
    const when = artifacts.when ?? 'on_success';
    const keeps = when === 'always' || (when === 'on_success') === (main.code === 0);
    return {
      status: main.code === 0 ? 'success' : 'failed',
      log: main.output + (last?.output ?? ''),
      artifacts: keeps ? shell.artifacts(artifacts.paths ?? []) : {},
      junit: keeps ? shell.artifacts(artifacts.reports?.junit ?? []) : {},
    };
  } finally {
    shell.end();
  }
}
