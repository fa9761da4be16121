import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { proofText } from '../../../../src/cli/verbs/test-receiver/idempotence/proof-text.ts';
import { PLAIN_PALETTE } from '../../../../src/cli/palette.ts';
import { IDEMPOTENCE_MISTAKES } from '../../../../src/idempotence/mistakes.ts';
import { argv } from '../../../end-to-end/argv.ts';
import { freePort } from '../../../free-port.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { expectRejected } from '../../expect-rejected.ts';
import { hooks, type HooksResult, type InProcessOptions } from '../../run-in-process.ts';

/** A receiver that prints each request and stores a line for each new id. Its argument selects a mistake: folds, later. */
const APP = `
  import { appendFileSync, existsSync, readFileSync } from 'node:fs';
  import { createServer } from 'node:http';
  const linesOf = (file) => (existsSync(file) ? readFileSync(file, 'utf8').split('\\n') : []);
  const [, , how] = process.argv;
  createServer(async (request, response) => {
    let body = '';
    for await (const chunk of request) body += chunk;
    let { messageId: id } = JSON.parse(body);
    console.log('took ' + id);
    if (how === 'folds') id = id.toLowerCase();
    const work = () => appendFileSync('state.txt', id + '\\n');
    if (!linesOf('ids.txt').includes(id)) {
      appendFileSync('ids.txt', id + '\\n');
      if (how === 'later') setTimeout(work, 150);
      else work();
    }
    response.end();
  }).listen(Number(process.env.PORT), '127.0.0.1');
`;

async function tested(
  how: string,
  flags: readonly string[],
  options: InProcessOptions = {},
): Promise<HooksResult> {
  const cwd = temporaryFolder({ 'app.mjs': APP });
  const url = `http://127.0.0.1:${await freePort()}/`;
  const state = '[ ! -f state.txt ] || exec cat state.txt';
  const commands = argv`--state ${state} --reset ${'rm -f *.txt'} --no-config`;
  const receiver = ['--', process.execPath, join(cwd, 'app.mjs'), how];
  return hooks(['test', url, ...commands, '--seed', '1', ...flags, ...receiver], {
    timeoutMs: 150_000,
    ...options,
    cwd,
  });
}

/** Returns the printed counterexample of `count` requests that ends in the state `id 9` twice. */
function printed(count: number): string {
  const requests = Array.from({ length: count }, (_, at) => {
    const again = at === 1 && { tries: 2, failedWith: 503 };
    return { message: 'track', messageId: `id ${at}`, atMs: at, status: 200, ...again };
  });
  const counterexample = { schedule: 1, requests, expected: 'id 9', state: 'id 9\nid 9' };
  const mistake = { code: 'check-then-act', ...IDEMPOTENCE_MISTAKES['check-then-act'] } as const;
  const result = { check: 'twice', title: '', outcome: 'failed', schedules: 1, ms: 1, mistake } as const;
  const screen = { color: PLAIN_PALETTE, stdoutColumns: undefined };
  return proofText({ ...result, counterexample }, () => '', screen);
}

describe.concurrent('hooks test --state', { timeout: 160_000 }, () => {
  it('prints every request of a short counterexample, and of a long one only the requests that the states name', () => {
    expect(printed(12)).toContain('503 first, then 200, sent 2 times');
    expect(printed(12)).not.toContain('more');
    expect(printed(30).match(/\+\d+ms/g)).toEqual(['+9ms']);
    expect(printed(30)).toContain('… and 29 more');
  });

  it('prints a lost message as one request, with the command that repeats the check, as JSON', async () => {
    const { code, stdout, stderr } = await tested('later', ['--only', 'killed', '-o', 'json']);
    expect(code, stderr).toBe(1);
    expect(JSON.parse(stdout.split('\n')[0] ?? '')).toMatchObject({
      check: 'killed',
      diagnosis: { code: 'responds-before-storing' },
      counterexample: { requests: [{ status: 200 }], state: '' },
      repeat: expect.stringMatching(/^hooks test http.* --seed 1 --only killed /),
    });
  });

  it('prints the ids that the receiver does not distinguish', async () => {
    const { code, stdout, stderr } = await tested('folds', ['--only', 'once']);
    expect(code, stderr).toBe(1);
    expect(stdout).toContain('(folds-ids)');
    expect(stdout).toMatch(/ hooks-test-/);
    expect(stdout).toMatch(/ HOOKS-TEST-/);
  });

  it('clears the progress bar before each line of the receiver', async () => {
    const { stderr } = await tested('sound', ['--only', 'once', '-v'], { terminalColumns: 80 });
    const before = [...stderr.matchAll(/([^\n]{0,8})took hooks/g)].map(([, text]) => text);
    expect(before.length).toBeGreaterThan(5);
    expect(before.filter((text) => !text?.endsWith('\r\u001b[K| '))).toEqual([]);
  });

  it('explains what --late 0 tests, and what after-5xx needs', async () => {
    const late = await tested('sound', ['--only', 'late', '--late', '0s', '--schedules', '1']);
    expect(late.stderr).toContain('With --late 0 a message is repeated immediately');
    const failing = await tested('sound', ['--only', 'after-5xx']);
    expect(failing.code).toBe(2);
    expect(failing.stderr).toMatch(/hint: {2}after-5xx needs a receiver that responds with 5xx/);
  });

  it('rejects a missing URL when the first word of the command was parsed as the URL', async () => {
    const error = 'Expected the URL of the receiver before --, got `node`';
    await expectRejected(argv`test --state true -- node server.js`, error);
  });
});
