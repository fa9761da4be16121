import { readFileSync } from 'node:fs';
import { delimiter, dirname } from 'node:path';
import { defaultLoaders } from 'cosmiconfig';
import { evaluated, interpolated, type ExpressionContext } from './github-expressions.ts';
import { expectKeys, JobShell, type Variables } from './job-shell.ts';

interface Workflow {
  readonly env?: Values;
  readonly jobs: Readonly<Record<string, Job>>;
}

type Values = Readonly<Record<string, string | number | boolean>>;

interface Job {
  readonly env?: Values;
  readonly steps: readonly Step[];
}

interface Step {
  readonly id?: string;
  readonly name?: string;
  readonly if?: string;
  readonly uses?: string;
  readonly with?: Values;
  readonly run?: string;
  readonly shell?: 'bash' | undefined;
  readonly env?: Values;
}

/** The result of a job on GitHub. */
export interface GithubResult {
  readonly conclusion: 'success' | 'failure';
  /** The outcome of each step, by its name, its action or its command. */
  readonly outcomes: Readonly<Record<string, 'success' | 'failure' | 'skipped'>>;
  readonly log: string;
  /** The page of the run. */
  readonly summary: string;
  /** The texts of the uploaded files, by artifact and path. */
  readonly artifacts: Readonly<Record<string, Readonly<Record<string, string>>>>;
  /** Number of steps whose background processes ran until the end of the job. */
  readonly leftRunning: number;
}

/** The shells of GitHub on Linux: one for steps without `shell`, one for `shell: bash`. */
const SHELLS = { default: ['-e'], bash: ['--noprofile', '--norc', '-eo', 'pipefail'] } as const;

/** Files with which a step changes the steps after it. */
const FILES = ['GITHUB_ENV', 'GITHUB_OUTPUT', 'GITHUB_PATH', 'GITHUB_STEP_SUMMARY'] as const;

/** The keys that this runner honors, or that do not change what the steps do. */
const KNOWN = {
  workflow: ['name', 'on', 'permissions', 'env', 'jobs'],
  job: ['runs-on', 'timeout-minutes', 'env', 'steps'],
  step: ['id', 'name', 'if', 'uses', 'with', 'run', 'shell', 'env'],
} as const;

/** Runs the only job of a workflow as the runner of GitHub does. `base` has the variables of the machine. */
export async function runOnGithub(
  text: string,
  {
    cwd,
    base,
    secrets = {},
  }: { readonly cwd: string; readonly base: Variables; readonly secrets?: Variables },
): Promise<GithubResult> {
  const workflow = defaultLoaders['.yaml']('workflow.yml', text) as Workflow; // GitHub's format
  expectKeys(workflow, KNOWN.workflow);
  const { env = {}, jobs } = workflow;
  const [job, ...others] = Object.values(jobs);
  if (job === undefined || others.length > 0) throw new Error('Expected a workflow with one job');
  expectKeys(job, KNOWN.job);
  const run = new JobRun(cwd, base, secrets, [env, job.env ?? {}]);
  try {
    for (const step of job.steps) await run.step(step);
  } finally {
    run.end();
  }
  return run.result();
}

class JobRun {
  readonly #shell: JobShell;
  readonly #secrets: Variables;
  readonly #env: Record<string, string>;
  readonly #outputs: Record<string, Variables> = {};
  readonly #outcomes: Record<string, 'success' | 'failure' | 'skipped'> = {};
  readonly #artifacts: Record<string, Record<string, string>> = {};
  #hasFailed = false;
  #log = '';
  #summary = '';
  #leftRunning = 0;

  constructor(cwd: string, base: Variables, secrets: Variables, envs: readonly Values[]) {
    this.#shell = new JobShell(cwd);
    this.#secrets = secrets;
    this.#env = { ...base, CI: 'true', GITHUB_ACTIONS: 'true', GITHUB_WORKSPACE: cwd };
    for (const env of envs) Object.assign(this.#env, this.#values(env));
  }

  async step(step: Step): Promise<void> {
    expectKeys(step, KNOWN.step);
    const name = step.name ?? step.uses ?? step.run ?? '';
    if (!this.#runs(step.if)) {
      this.#outcomes[name] = 'skipped';
      return;
    }
    const isRight = step.uses === undefined ? await this.#run(step) : this.#use(step.uses, step.with ?? {});
    this.#outcomes[name] = isRight ? 'success' : 'failure';
    this.#hasFailed ||= !isRight;
  }

  end(): void {
    this.#leftRunning = this.#shell.end();
  }

  result(): GithubResult {
    return {
      conclusion: this.#hasFailed ? 'failure' : 'success',
      outcomes: this.#outcomes,
      log: this.#log,
      summary: this.#summary,
      artifacts: this.#artifacts,
      leftRunning: this.#leftRunning,
    };
  }

  /** A step runs after a failed step only if its condition has a status function. */
  #runs(condition = 'success()'): boolean {
    const isNext = !this.#hasFailed || /\b(?:always|failure)\(\)/.test(condition);
    return isNext && evaluated(condition, this.#context()) !== '';
  }

  async #run({ id, run = '', shell, env = {} }: Step): Promise<boolean> {
    const count = Object.keys(this.#outcomes).length;
    const files = Object.fromEntries(FILES.map((file) => [file, this.#shell.emptyFile(`${count}.${file}`)]));
    const variables = { ...this.#env, ...this.#values(env), ...files };
    const { code, output } = await this.#shell.run(
      interpolated(run, this.#context()),
      SHELLS[shell ?? 'default'],
      variables,
    );
    this.#log += output;
    const written = (file: (typeof FILES)[number]): string => readFileSync(files[file] ?? '', 'utf8');
    Object.assign(this.#env, assignments(written('GITHUB_ENV')));
    for (const folder of written('GITHUB_PATH').split('\n').filter(Boolean)) this.#addToPath(folder);
    if (id !== undefined) this.#outputs[id] = assignments(written('GITHUB_OUTPUT'));
    this.#summary += written('GITHUB_STEP_SUMMARY');
    return code === 0;
  }

  /** Does what the pages need of the actions that they use. */
  #use(action: string, options: Values): boolean {
    const { name = '', path = '' } = this.#values(options);
    switch (action.split('@')[0]) {
      case 'actions/checkout':
        // The folder of the job has the files already.
        return true;
      case 'actions/setup-node':
        this.#addToPath(dirname(process.execPath));
        return true;
      case 'actions/upload-artifact':
        this.#artifacts[name] = this.#shell.artifacts(path.split('\n').filter(Boolean));
        return true;
      case 'github/codeql-action/upload-sarif':
        this.#artifacts['code scanning'] = this.#shell.artifacts([this.#values(options)['sarif_file'] ?? '']);
        return true;
      default:
        throw new Error(`Expected an action that this runner has, got ${action}`);
    }
  }

  #addToPath(folder: string): void {
    this.#env['PATH'] = [folder, this.#env['PATH']].join(delimiter);
  }

  #context(): ExpressionContext {
    return { secrets: this.#secrets, env: this.#env, outputs: this.#outputs, hasFailed: this.#hasFailed };
  }

  #values(values: Values): Record<string, string> {
    const entries = Object.entries(values);
    return Object.fromEntries(
      entries.map(([name, value]) => [name, interpolated(String(value), this.#context())]),
    );
  }
}

/** Reads the lines `NAME=value` and `NAME<<END … END` of GITHUB_ENV and GITHUB_OUTPUT. */
function assignments(text: string): Record<string, string> {
  const found = text.matchAll(/^([^=\n]+?)(?:=(.*)|<<(\S+)\n(?:([^]*?)\n)?\3)$/gm);
  return Object.fromEntries([...found].map(([, name, line, , lines = '']) => [name, line ?? lines]));
}
