import { describe, expect, it } from 'vitest';
import { argv } from './argv.ts';
import { hooks } from '../cli/run-in-process.ts';
import type { ResultLine } from './delivering.ts';
import { hooks as runBuilt } from './hooks.ts';
import { AT, headerOf, jsonLines, receiving, SECRET, track } from './receiving.ts';
import { temporaryFolder } from '../temporary-folder.ts';

function attemptsIn(stdout: string): { outcome: string; urls: string[]; url: string | undefined } {
  const { outcome, url, attempts } = JSON.parse(stdout) as ResultLine; // the only line of -o json
  return { outcome, url, urls: attempts.map((attempt) => attempt.url) };
}

describe.concurrent('hooks send to several URLs', () => {
  it('tries them in order until one accepts the message', async () => {
    const failing = await Promise.all([1, 2, 3].map(() => receiving({ respond: '503' })));
    const rejecting = await receiving({ respond: '404' });
    const taking = await receiving({ secret: SECRET });
    const urls = [...failing, rejecting, taking].map(({ url }) => url);
    const args = ['send', '--json', track(1), ...urls.flatMap((url) => ['--url', url]), '--secret', SECRET];
    const { code, stdout, stderr } = await hooks([...args, '-o', 'json']);
    expect(code).toBe(0);
    expect(attemptsIn(stdout)).toEqual({ outcome: 'delivered', urls, url: taking.url });
    expect(stderr.split('\n')).toEqual([
      ...failing.map(({ url }) => `failed: 503 Service Unavailable from ${url} (track m1)`),
      `failed: 404 Not Found from ${rejecting.url} (track m1)`,
      '',
    ]);
    expect(taking.requests).toMatchObject([{ verdict: 'valid' }]);
  });

  it('asks all of them at once with --strategy broadcast', async () => {
    const [failing, taking, other] = [
      await receiving({ respond: '503' }),
      await receiving(),
      await receiving(),
    ];
    const urls = [failing, taking, other].map(({ url }) => url);
    const args = ['send', '--json', track(1), ...urls.flatMap((url) => ['--url', url])];
    const { code, stdout } = await hooks(argv`${args} --strategy broadcast -o json`);
    expect(code).toBe(0);
    const { outcome, urls: asked } = attemptsIn(stdout);
    expect([outcome, asked.toSorted()]).toEqual(['delivered', urls.toSorted()]);
    expect([failing, taking, other].map(({ requests }) => requests.length)).toEqual([1, 1, 1]);
  });

  it('reads them from HOOKS_URL, and from the config with headers of each', async () => {
    const [first, second] = [await receiving({ respond: '500' }), await receiving()];
    const byVariable = await hooks(['send', '--json', track(1)], {
      env: { HOOKS_URL: `${first.url}\n ${second.url}` },
    });
    expect(byVariable.code).toBe(0);
    const config = { webhooks: [first.url, { url: second.url, headers: { 'X-Env': 'staging' } }] };
    const cwd = temporaryFolder({ '.hooksrc.json': JSON.stringify(config) });
    const byConfig = await hooks(argv`send --json ${track(2)} -v`, { cwd });
    expect([byConfig.code, byConfig.stderr.split('\n')[0]]).toEqual([0, 'config: .hooksrc.json']);
    expect(second.requests.map((request) => headerOf(request, 'x-env'))).toEqual([undefined, 'staging']);
  });
});

describe.concurrent('hooks send with a failed delivery', () => {
  it('prints each retry, and finally the cause and a hint', async () => {
    const to = await receiving({ respond: '503,405' });
    const { code, stdout, stderr } = await hooks(argv`send --json ${track(1)} --url ${to.url}`);
    expect(code).toBe(1);
    const [line, sentence, ...rest] = stdout.split('\n');
    expect(line).toMatch(/^✗ failed {4}track {4}Signup {19}405 +[\d.]+m?s http:\/\/127\.0\.0\.1:\d+$/);
    expect(sentence).toMatch(
      /^ {2}Delivery rejected after 2 rounds in [\d.]+m?s: 405 Method Not Allowed from http:/,
    );
    expect(rest).toEqual(['']);
    const [retry, hint, ...others] = stderr.split('\n');
    expect(retry).toMatch(
      /^retry: 503 Service Unavailable from http:\S+; round 2 in [\d.]+m?s \(track m1\)$/,
    );
    expect(hint).toMatch(/^hint: {2}check the path of the URL: it must take POST \(/);
    expect(others).toEqual(['']);
  });

  it('makes one round with --retry-for 0', async () => {
    const to = await receiving({ respond: '503' });
    const { stdout, stderr } = await hooks(argv`send --json ${track(1)} --url ${to.url} --retry-for 0`);
    expect(stdout).toMatch(
      /\n {2}Delivery failed after 1 round in \S+s: 503 Service Unavailable from http:\S+\n$/,
    );
    expect(stderr).toBe(
      'hint:  look into its log for the reason; if it is in maintenance, end that; --retry-for tries longer\n',
    );
    expect(to.requests).toHaveLength(1);
  });

  it('prints the failure of each webhook and its cause', async () => {
    const to = await receiving({ respond: '401' });
    const { code, stdout, stderr } = await hooks(
      argv`send --json ${track(1)} --url http://127.0.0.1:9 --url ${to.url} --retry-for 0`,
    );
    expect(code).toBe(1);
    expect(stdout).toContain(`: 401 Unauthorized from ${to.url}\n`);
    expect(stdout).toContain(
      '\n  also: cannot connect to http://127.0.0.1:9 (the connection was refused (ECONNREFUSED 127.0.0.1:9))\n',
    );
    expect(stdout).toContain(
      '\n  cause: the request was unsigned: there is no --secret, HOOKS_SECRET or sharedSecret',
    );
    expect(stderr).toContain('hint:  give the secret that the receiver verifies with');
  });

  it('does not retry a rejected message', async () => {
    const to = await receiving({ respond: '404' });
    const { code, stdout } = await hooks(['send', '--json', track(1), '--url', to.url]);
    expect(code).toBe(1);
    expect(stdout).toContain(`\n  Delivery rejected: 404 Not Found from ${to.url}\n`);
    // The probes after it are requests with OPTIONS.
    expect(to.requests.filter(({ method }) => method === 'POST')).toHaveLength(1);
  });
});

describe.concurrent('hooks send', () => {
  it('generates an anonymous id for a message without a user, and prints it', async () => {
    const to = await receiving();
    const { code, stderr } = await hooks(argv`send track --event Signup`, { env: { HOOKS_URL: to.url } });
    const [id] = to.field('anonymousId') as [string];
    expect([code, stderr]).toEqual([0, `note: without --user-id, anonymousId is ${id}\n`]);
    expect(id).toMatch(/^[\da-f]{8}-/);
  });

  it('lets flags override fields of --json', async () => {
    const to = await receiving();
    const whole = track(1, { properties: { a: 1, b: { c: 2 } }, context: { ip: '::1' } });
    const args = ['--json', whole, '--event', 'Other', '-p', 'b.d=3', '--context', '{"locale":"de"}'];
    expect(await hooks(argv`send track ${args} --url ${to.url}`)).toMatchObject({ code: 0 });
    expect(to.bodies()).toEqual([
      `{"version":1,"type":"track","userId":"u1","event":"Other","properties":{"a":1,"b":{"c":2,"d":3}},"timestamp":"${AT}","messageId":"m1","context":{"locale":"de"}}`,
    ]);
  });

  it('reads a map from a file and the secret from standard input', async () => {
    const to = await receiving({ secret: SECRET });
    const cwd = temporaryFolder({ 'traits.json': '{"plan":"pro"}' });
    const args = ['send', 'identify', '--user-id', 'u1', '--traits', '@traits.json', '--secret-file', '-'];
    expect(await hooks([...args, '--url', to.url], { cwd, stdin: `${SECRET}\n` })).toMatchObject({ code: 0 });
    expect(to.requests).toMatchObject([{ verdict: 'valid' }]);
    expect(to.field('traits')).toEqual([{ plan: 'pro' }]);
  });

  it('prints only failures with -q', async () => {
    const to = await receiving({ respond: '200,404' });
    const args = ['send', '--json', track(1), '--url', to.url, '-q'];
    expect(await hooks(args)).toMatchObject({ code: 0, stdout: '', stderr: '' });
    const failed = await hooks(args);
    expect(failed.code).toBe(1);
    expect(failed.stdout).toContain('✗ failed');
  });

  it('prints the verdict with --loopback, and the body with -v', async () => {
    const { code, stdout, stderr } = await hooks(argv`send --json ${track(1)} --loopback -v`);
    expect([code, stderr]).toEqual([0, expect.stringMatching(/^config: no file\n> POST http[^]*\n< 200\n/)]);
    expect(stdout).toMatch(
      /^✓ delivered track .* 200 .* valid +http:\/\/127\.0\.0\.1:\d+\/webhook\n {2}\{"version":1/,
    );
  });

  it('logs the client with DEBUG=analytics, without a secret', async () => {
    const args = ['send', '--json', track(1), '--loopback', '--secret', SECRET];
    const { code, stderr } = await runBuilt(args, { env: { DEBUG: 'analytics' } });
    expect(code).toBe(0);
    expect(stderr).toMatch(/analytics enqueue track m1\n[^]*analytics receipts: 1 accepted of 1\n/);
    expect(stderr).not.toContain(SECRET);
  });

  it('exits with 1 and sends nothing if integrations exclude every destination', async () => {
    const to = await receiving();
    const args = ['send', '--json', track(1), '--integration', 'Webhooks=false', '--url', to.url];
    const { code, stdout, stderr } = await hooks(args);
    expect([code, to.requests.length]).toEqual([1, 0]);
    expect(stdout).toBe('∅ filtered  track    Signup\n  Its `integrations` exclude every destination\n');
    expect(stderr).toBe('hint:  set a destination to true in its `integrations`, or leave them out\n');
    const json = await hooks([...args, '-o', 'json']);
    expect(jsonLines(json.stdout)).toMatchObject([{ outcome: 'filtered', attempts: [] }]);
  });
});
