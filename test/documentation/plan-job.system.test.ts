// Needs bash, git, and the registry unless npm has cached the packages: runs the jobs for a program in a project.
import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { ROOT } from '../end-to-end/receiving.ts';
import { inherited } from '../end-to-end/running-command.ts';
import { HAS_CLIENTS } from '../system/clients.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { blocksIn, documentedFile } from './blocks.ts';
import { runOnGithub, type GithubResult } from './github-runner.ts';
import { JobShell, type Variables } from './job-shell.ts';

/** Timeout for a slow registry and a busy machine. */
const PATIENT = 300_000;

const PLAN_JOB = documentedFile('docs/plans.md', '.github/workflows/plan.yml');
const MESSAGES_JOB = documentedFile('docs/ci.md', '.github/workflows/messages.yml');
const [INSTALL = ''] = blocksIn('sh', 'docs/ci.md').map(({ text }) => text);

/** The machine of a runner for a pull request against `main`. npm prefers its cache, and skips install scripts. */
const MACHINE: Variables = {
  ...inherited(),
  GITHUB_BASE_REF: 'main',
  npm_config_prefer_offline: 'true',
  npm_config_ignore_scripts: 'true',
  npm_config_audit: 'false',
};

function planWith(type: string): string {
  const properties = { total: { type } };
  const jsonSchema = { type: 'object', properties: { properties: { type: 'object', properties } } };
  return JSON.stringify({ rules: [{ key: 'Order Completed', type: 'TRACK', version: 1, jsonSchema }] });
}

/** A program that sends 25 orders, each with this property. It has no library, so that the job installs only hooks. */
function programWith(property: string): string {
  return `
const properties = { ${property}: 10 };
const batch = Array.from({ length: 25 }, () => ({ type: 'track', userId: 'u1', event: 'Order Completed', properties }));
const headers = { 'content-type': 'application/json' };
const url = process.env.HOOKS_URL + '/v1/batch';
await fetch(url, { method: 'POST', headers, body: JSON.stringify({ writeKey: 'KEY', batch }) });
`;
}

const ORDER = { type: 'track', userId: 'u1', event: 'Order Completed', properties: { total: 10 } };

describe.skipIf(!HAS_CLIENTS)('the jobs for a program', () => {
  let project: string;
  beforeAll(async () => {
    project = temporaryFolder({
      'package.json': JSON.stringify({
        name: 'shop',
        version: '1.0.0',
        private: true,
        type: 'module',
        scripts: { test: 'node shop.js' },
      }),
      '.gitignore': 'node_modules\n',
      'plan.json': planWith('number'),
      'shop.js': programWith('total'),
      'fixtures/order.json': JSON.stringify(ORDER),
      'captures/order.json': JSON.stringify(ORDER),
    });
    execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', project], {
      cwd: ROOT,
    });
    const shell = new JobShell(project);
    const { code, output } = await shell.run(INSTALL, ['-e'], MACHINE);
    shell.end();
    expect(code, output).toBe(0);
    git(project, 'init', '--quiet', '--initial-branch', 'main');
    git(project, 'add', '.');
    git(project, '-c', 'user.name=u', '-c', 'user.email=u@a.example', 'commit', '--quiet', '-m', 'Start');
  }, PATIENT);

  /** Runs a workflow for a pull request that changes these files. */
  async function jobWith(
    files: Readonly<Record<string, string>>,
    workflow = PLAN_JOB,
  ): Promise<GithubResult> {
    const cwd = temporaryFolder();
    git(cwd, 'clone', '--quiet', `file://${project}`, '.');
    for (const [name, text] of Object.entries(files)) writeFileSync(join(cwd, name), text);
    return runOnGithub(workflow, { cwd, base: MACHINE });
  }

  it('passes if the program and the plan agree', { timeout: PATIENT }, async () => {
    const result = await jobWith({ 'README.md': '# shop\n' });
    expect(result.conclusion, result.log).toBe('success');
    expect(result.artifacts).toEqual({ 'code scanning': { 'plan.sarif': expect.stringContaining('2.1.0') } });
    expect(result.summary).toContain('### ✓ hooks expect');
  });

  it('fails for a misspelled property', { timeout: PATIENT }, async () => {
    const result = await jobWith({ 'shop.js': programWith('totl') });
    expect(result.outcomes['Check what the program sends'], result.log).toBe('failure');
    expect(result.log).toContain('is "total" meant?');
    // The check of the recorded messages runs all the same, so that its report can be uploaded.
    expect(result.outcomes['Check the recorded messages']).toBe('success');
  });

  it('fails for a breaking change of the plan', { timeout: PATIENT }, async () => {
    const result = await jobWith({ 'plan.json': planWith('integer') });
    expect(result.outcomes, result.log).toMatchObject({
      'Check the recorded messages': 'success',
      'Compare the plan with that of the base branch': 'failure',
    });
    expect(result.summary).toContain('no longer allows the type number');
  });

  it(
    'of docs/ci.md fails for what the program sends, and for a recorded message',
    { timeout: PATIENT },
    async () => {
      const right = await jobWith({}, MESSAGES_JOB);
      expect(right.conclusion, right.log).toBe('success');
      const reports = { 'program.xml': expect.stringContaining('failures="0"') };
      expect(right.artifacts).toMatchObject({ 'message-reports': reports });
      const wrong = {
        'shop.js': programWith('totl'),
        'captures/order.json': '{"type":"track","userId":"u1"}',
      };
      const { outcomes, artifacts, log } = await jobWith(wrong, MESSAGES_JOB);
      expect(outcomes, log).toMatchObject({
        'Check what the program sends': 'failure',
        'Check the recorded messages': 'failure',
      });
      expect(Object.keys(artifacts['message-reports'] ?? {})).toEqual(['captures.xml', 'program.xml']);
    },
  );
});

function git(cwd: string, ...args: readonly string[]): void {
  execFileSync('git', args, { cwd, stdio: ['ignore', 'ignore', 'inherit'] });
}
