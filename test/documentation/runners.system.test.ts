// Needs bash: runs scripts like the runners of GitHub and GitLab.
import { describe, expect, it } from 'vitest';
import { inherited } from '../end-to-end/running-command.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { runOnGithub } from './github-runner.ts';
import { runOnGitlab } from './gitlab-runner.ts';

const base = inherited();

/** Returns a workflow with these steps. */
function workflow(...steps: readonly object[]): string {
  return JSON.stringify({
    env: { A: 'workflow', B: 'workflow' },
    jobs: { one: { env: { B: 'job' }, steps } },
  });
}

describe('the runner of a GitHub workflow', () => {
  const cwd = temporaryFolder({ 'tools/hello': '#!/bin/sh\necho hello from a folder of PATH\n' });

  it('passes variables, outputs and folders of PATH to the steps after a step', async () => {
    const { log, summary, conclusion } = await runOnGithub(
      workflow(
        { id: 'first', run: 'echo C=later >> "$GITHUB_ENV"; echo out=put >> "$GITHUB_OUTPUT"; echo "[$C]"' },
        {
          run: 'chmod +x tools/hello; echo "$PWD/tools" >> "$GITHUB_PATH"; printf "D<<E\\n1\\n2\\nE\\n" >> "$GITHUB_ENV"',
        },
        {
          env: { B: 'step' },
          run: 'echo "$A $B $C $D ${{ steps.first.outputs.out }} ${{ secrets.S }}"; hello',
        },
        { run: 'echo done >> "$GITHUB_STEP_SUMMARY"' },
      ),
      { cwd, base, secrets: { S: 's3cret' } },
    );
    expect(log).toBe('[]\nworkflow step later 1\n2 put s3cret\nhello from a folder of PATH\n');
    expect(summary).toBe('done\n');
    expect(conclusion).toBe('success');
  });

  it('skips the steps after a failed step, except those with always() or failure()', async () => {
    const steps = [
      { name: 'failing', run: 'false\necho not reached' },
      { name: 'next', run: 'echo not reached' },
      { name: 'conditional', if: 'env.A', run: 'echo not reached' },
      { name: 'always', if: 'always()', run: 'echo always' },
      { name: 'failure', if: '${{ failure() }}', run: 'echo failure' },
    ];
    const { log, outcomes, conclusion } = await runOnGithub(workflow(...steps), { cwd, base });
    expect(log).toBe('always\nfailure\n');
    expect(outcomes).toEqual({
      failing: 'failure',
      next: 'skipped',
      conditional: 'skipped',
      always: 'success',
      failure: 'success',
    });
    expect(conclusion).toBe('failure');
  });

  it('fails for a failed pipe only with `shell: bash`', async () => {
    const pipe = { run: 'false | true' };
    const { conclusion } = await runOnGithub(workflow(pipe), { cwd, base });
    const bash = await runOnGithub(workflow({ ...pipe, shell: 'bash' }), { cwd, base });
    expect([conclusion, bash.conclusion]).toEqual(['success', 'failure']);
  });

  it('kills background processes at the end of the job, not of the step', async () => {
    const { conclusion, leftRunning } = await runOnGithub(
      workflow({ run: 'sleep 100 & echo PID=$! >> "$GITHUB_ENV"' }, { run: 'kill -0 $PID' }),
      { cwd, base },
    );
    expect({ conclusion, leftRunning }).toEqual({ conclusion: 'success', leftRunning: 1 });
  });

  it.each([
    { uses: 'somebody/else@v1' },
    { run: 'true', 'continue-on-error': true },
    { run: 'echo ${{ github.actor }}' },
  ])('rejects what it does not have: %j', async (step) => {
    await expect(runOnGithub(workflow(step), { cwd, base })).rejects.toThrow('Expected');
  });
});

describe('the runner of a GitLab job', () => {
  const cwd = temporaryFolder({ 'report.xml': '<testsuites/>' });
  const job = {
    variables: { A: 'file', B: 'file' },
    before_script: ['cd /', 'C=before'],
    script: ['echo "$A $B $C $PWD"', 'false | true', 'echo not reached'],
    after_script: ['echo "$A [$C]"'],
  };
  const artifacts = { paths: ['report.xml'], reports: { junit: ['*.xml'] } };

  it('runs before_script and script in one shell, and after_script in another', async () => {
    const { log, status } = await runOnGitlab(JSON.stringify({ job }), {
      cwd,
      base,
      secrets: { B: 'project' },
    });
    expect(log).toBe('file project before /\nfile []\n');
    expect(status).toBe('failed');
  });

  it.each([
    ['always', 1],
    ['on_failure', 1],
    ['on_success', 0],
  ])('keeps the artifacts of a failed job as `when: %s` says', async (when, count) => {
    const file = JSON.stringify({ job: { ...job, artifacts: { ...artifacts, when } } });
    const kept = await runOnGitlab(file, { cwd, base });
    expect([Object.keys(kept.artifacts), Object.keys(kept.junit)]).toEqual(
      count === 1 ? [['report.xml'], ['report.xml']] : [[], []],
    );
  });

  it('rejects a key that it does not have', async () => {
    const file = JSON.stringify({ job: { ...job, cache: {} } });
    await expect(runOnGitlab(file, { cwd, base })).rejects.toThrow('got cache');
  });
});
