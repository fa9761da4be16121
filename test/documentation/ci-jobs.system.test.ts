// Needs bash, and the registry unless npm has cached the packages: runs the jobs of docs/ci.md in a project.
import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { cp, writeFile } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { beforeAll, describe, expect, it } from 'vitest';
import { receiving, ROOT } from '../end-to-end/receiving.ts';
import { inherited } from '../end-to-end/running-command.ts';
import { freePort } from '../free-port.ts';
import { HAS_CLIENTS } from '../system/clients.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { blocksIn, documentedFile } from './blocks.ts';
import { runOnGithub, type GithubResult } from './github-runner.ts';
import { runOnGitlab, type GitlabResult } from './gitlab-runner.ts';
import { JobShell, type Variables } from './job-shell.ts';

/** Timeout for a slow registry and a busy machine. */
const PATIENT = 300_000;

const PAGE = 'docs/ci.md';
const [INSTALL = ''] = blocksIn('sh', PAGE).map(({ text }) => text);
const SECRET = 'secret-of-the-store';
const SECRET_OF_JOB = 'secret-of-this-job';

const WORKFLOW = documentedFile(PAGE, '.github/workflows/webhooks.yml');
const SCRIPT = documentedFile(PAGE, 'webhooks.sh');
const GITLAB_FILE = documentedFile(PAGE, '.gitlab-ci.yml');

/** Replaces the port of the page, which can be in use on this machine. Everything else runs as the page has it. */
async function withFreePort(text: string): Promise<string> {
  expect(text).toContain('3000');
  return text.replaceAll('3000', String(await freePort()));
}

/** The machine of a runner: npm prefers its cache to the registry and skips install scripts, which could compile for minutes. */
const MACHINE: Variables = {
  ...inherited(),
  npm_config_prefer_offline: 'true',
  npm_config_ignore_scripts: 'true',
  npm_config_audit: 'false',
};

/** A service that starts slowly, so that a job must wait for it, and that writes down its secret for the test. */
function service(receiver: string): string {
  return `
import { writeFileSync } from 'node:fs';
import { setTimeout } from 'node:timers/promises';
writeFileSync('secret-in-use', process.env.HOOKS_SECRET ?? '');
await setTimeout(2_000);
await import('./receivers/${receiver}');
`;
}

const invoice = { type: 'track', event: 'Invoice Paid', userId: 'u1', timestamp: '2026-11-20T21:10:05.123Z' };

/** A project without git and hooks-cli. */
const FILES = {
  'package.json': JSON.stringify({
    name: 'my-service',
    version: '1.0.0',
    private: true,
    type: 'module',
    scripts: { test: 'node program.js' },
  }),
  'plan.json': JSON.stringify({ 'Invoice Paid': { type: 'object' } }),
  'captures/invoice.json': JSON.stringify(invoice),
  // The program that `npm test` of the script runs.
  'program.js': `
const headers = { 'content-type': 'application/json' };
await fetch(process.env.HOOKS_URL, { method: 'POST', headers, body: ${JSON.stringify(JSON.stringify(invoice))} });
`,
  'fixtures/signup.json': JSON.stringify({ ...invoice, event: 'Signup' }),
  'fixtures/invoice.json': JSON.stringify(invoice),
  // Verifies signatures, but rejects one of the project's own messages.
  'receivers/broken/rejects-invoices.js': `
import { receive, verified } from './receiving.js';
receive(verified((message) => (message.event === 'Invoice Paid' ? 422 : 204)));
`,
};

describe.skipIf(!HAS_CLIENTS)('the jobs of docs/ci.md', () => {
  let project: string;
  beforeAll(async () => {
    project = temporaryFolder(FILES);
    await cp(join(ROOT, 'fixtures/receivers'), join(project, 'receivers'), { recursive: true });
    // Does not build again, which would disturb the tests that run the build.
    execFileSync('npm', ['pack', '--ignore-scripts', '--silent', '--pack-destination', project], {
      cwd: ROOT,
    });
    const shell = new JobShell(project);
    const { code, output } = await shell.run(INSTALL, ['-e'], MACHINE);
    shell.end();
    expect(code, output).toBe(0);
  }, PATIENT);

  /** Returns a checkout of the project with this receiver. */
  async function checkout(receiver: string): Promise<string> {
    const cwd = temporaryFolder();
    const modules = join(project, 'node_modules');
    await cp(project, cwd, { recursive: true, filter: (path) => path !== modules });
    await writeFile(join(cwd, 'server.js'), service(receiver));
    return cwd;
  }

  interface Done<Result> {
    readonly result: Result;
    /** The secret of the service. */
    readonly secret: string;
  }

  async function onGithub(receiver: string, secrets = {}): Promise<Done<GithubResult>> {
    const cwd = await checkout(receiver);
    const result = await runOnGithub(await withFreePort(WORKFLOW), { cwd, base: MACHINE, secrets });
    return { result, secret: readFileSync(join(cwd, 'secret-in-use'), 'utf8') };
  }

  async function onGitlab(receiver: string, secrets = {}): Promise<Done<GitlabResult>> {
    const cwd = await checkout(receiver);
    // The image of the job has Node.
    const base = { ...MACHINE, PATH: `${dirname(process.execPath)}:${MACHINE['PATH']}` };
    const result = await runOnGitlab(await withFreePort(GITLAB_FILE), { cwd, base, secrets });
    return { result, secret: readFileSync(join(cwd, 'secret-in-use'), 'utf8') };
  }

  async function byScript(
    receiver: string,
    { script = withFreePort(SCRIPT), server = service(receiver) } = {},
  ) {
    const cwd = await checkout(receiver);
    await writeFile(join(cwd, 'server.js'), server);
    await writeFile(join(cwd, 'webhooks.sh'), await script);
    const shell = new JobShell(cwd);
    const base = { ...MACHINE, PATH: `${dirname(process.execPath)}:${MACHINE['PATH']}`, CI: 'true' };
    const done = await shell.run('sh webhooks.sh', ['-e'], base);
    const reports = shell.artifacts(['*.xml']);
    return { ...done, reports: Object.keys(reports), leftRunning: shell.end() };
  }

  const PASSED = {
    'receiver.xml': expect.stringMatching(/<testsuites?\b[^>]* failures="0"/),
    'replay.xml': expect.stringMatching(/tests="2" failures="0"/),
    'server.log': expect.any(String),
  };
  /** The receiver accepts unsigned requests, so the job ends before the replay. */
  const FORGED = { 'receiver.xml': expect.stringContaining('<failure') };

  describe('on GitHub', () => {
    it('passes for a right receiver, with the secret of the repository', { timeout: PATIENT }, async () => {
      const { result, secret } = await onGithub('receiver.js', { WEBHOOK_SECRET: SECRET });
      expect(result.conclusion, result.log).toBe('success');
      expect(result.artifacts).toEqual({ 'webhook-reports': PASSED });
      expect(result.summary).toMatch(/^### ✓ hooks test$[^]*^### ✓ hooks replay$/m);
      // The service that replay used runs until the end of the job.
      expect(result.leftRunning).toBe(1);
      expect(secret).toBe(SECRET);
      expect(JSON.stringify(result)).not.toContain(SECRET);
    });

    it('passes for a pull request from a fork, without the secret', { timeout: PATIENT }, async () => {
      const { result, secret } = await onGithub('receiver.js');
      expect(result.conclusion, result.log).toBe('success');
      expect(result.artifacts).toEqual({ 'webhook-reports': PASSED });
      expect(secret).toBe(SECRET_OF_JOB);
    });

    it('fails for a receiver that accepts unsigned requests', { timeout: PATIENT }, async () => {
      const { result } = await onGithub('broken/accepts-everything.js');
      expect(result.conclusion, result.log).toBe('failure');
      expect(result.outcomes).toMatchObject({
        'Check the receiver': 'failure',
        'Replay your own messages': 'skipped',
      });
      expect(result.artifacts).toEqual({ 'webhook-reports': FORGED });
      expect(result.log).toMatch(/^::error title=hooks test/m);
      expect(result.summary).toContain('### ✗ hooks test');
    });

    it('fails for a receiver that rejects a message of the project', { timeout: PATIENT }, async () => {
      const { result } = await onGithub('broken/rejects-invoices.js');
      expect(result.conclusion, result.log).toBe('failure');
      expect(result.outcomes).toMatchObject({
        'Check the receiver': 'success',
        'Replay your own messages': 'failure',
      });
      const reports = { ...PASSED, 'replay.xml': expect.stringMatching(/tests="2" failures="1"/) };
      expect(result.artifacts).toEqual({ 'webhook-reports': reports });
      expect(result.log).toMatch(/^::error file=fixtures\/invoice\.json,line=1,title=hooks replay/m);
    });
  });

  describe('the script for any other system', () => {
    it('passes for a right receiver, and stops it', { timeout: PATIENT }, async () => {
      const { code, output, reports, leftRunning } = await byScript('receiver.js');
      expect(code, output).toBe(0);
      expect(output).not.toMatch(/Terminated|No such process/);
      expect(reports).toEqual(['captures.xml', 'program.xml', 'receiver.xml', 'replay.xml']);
      expect(leftRunning).toBe(0);
    });

    it('shows the error of a receiver that does not start', { timeout: PATIENT }, async () => {
      const server = 'console.log("starting";';
      const { code, output, reports } = await byScript('receiver.js', { server });
      expect(code, output).toBe(2);
      expect(output).toContain('SyntaxError: missing ) after argument list');
      expect(output).not.toMatch(/Terminated|No such process/);
      expect(reports).toEqual(['captures.xml', 'program.xml', 'receiver.xml']);
    });

    it('sends no message to another program that has the port', { timeout: PATIENT }, async () => {
      const other = await receiving({ secret: SECRET });
      const script = Promise.resolve(SCRIPT.replaceAll('3000', new URL(other.url).port));
      const { code, output } = await byScript('receiver.js', { script });
      expect([code, output]).toEqual([2, expect.stringContaining('Another program listens at 127.0.0.1')]);
      expect(other.requests).toHaveLength(0);
    });

    it(
      'shows the log of a receiver that rejects a message of the project',
      { timeout: PATIENT },
      async () => {
        const server = `console.log('the log of the service');\n${service('broken/rejects-invoices.js')}`;
        const { code, output, leftRunning } = await byScript('broken/rejects-invoices.js', { server });
        expect([code, leftRunning], output).toEqual([1, 0]);
        expect(output.match(/^the log of the service$/gm)).toHaveLength(1);
      },
    );

    it(
      'fails for a receiver that accepts unsigned requests, runs the checks after it, and stops it',
      { timeout: PATIENT },
      async () => {
        const { code, output, reports, leftRunning } = await byScript('broken/accepts-everything.js');
        expect([code, leftRunning], output).toEqual([1, 0]);
        // The check after the one that failed runs, too.
        expect(reports).toContain('replay.xml');
      },
    );
  });

  describe('on GitLab', () => {
    it('passes for a right receiver, with the secret of the project', { timeout: PATIENT }, async () => {
      const { result, secret } = await onGitlab('receiver.js', { WEBHOOK_SECRET: SECRET });
      expect(result.status, result.log).toBe('success');
      expect(result.artifacts).toEqual(PASSED);
      expect(Object.keys(result.junit)).toEqual(['receiver.xml', 'replay.xml']);
      expect(secret).toBe(SECRET);
      expect(JSON.stringify(result)).not.toContain(SECRET);
    });

    it('passes for a merge request from a fork, without the secret', { timeout: PATIENT }, async () => {
      const { result, secret } = await onGitlab('receiver.js');
      expect(result.status, result.log).toBe('success');
      expect(secret).toBe(SECRET_OF_JOB);
    });

    it('fails for a receiver that accepts unsigned requests', { timeout: PATIENT }, async () => {
      const { result } = await onGitlab('broken/accepts-everything.js');
      expect(result.status, result.log).toBe('failed');
      expect(result.artifacts).toEqual(FORGED);
      expect(result.junit).toEqual(FORGED);
    });
  });
});
