import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as delay } from 'node:timers/promises';
import { describe, expect, it } from 'vitest';
import { hooks, startHooks } from '../../cli/run-in-process.ts';
import { sign } from '../../sign.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { until } from '../../until.ts';
import { argv } from '../argv.ts';
import { SECRET, track, tracks } from '../receiving.ts';
import { fields, loadOf, loadReceiver, type Respond } from './load-receiver.ts';

const JSON_OUTPUT = ['-o', 'json'];
/** A load of a machine that stands still for a second leaves messages unsent, which the counts of these tests exclude. */
const AGAIN = { retry: 2 };

function folder(count = 5): string {
  return temporaryFolder({ 'day.ndjson': tracks(count) });
}

/** Runs a load of the file `day.ndjson`, and returns its result with the receiver. */
async function loaded(
  flags: readonly string[],
  { respond, cwd = folder() }: { respond?: Respond; cwd?: string } = {},
) {
  const to = await loadReceiver(respond);
  const result = await hooks(
    argv`replay day.ndjson --url ${to.url} --secret ${SECRET} ${flags} ${JSON_OUTPUT}`,
    {
      cwd,
    },
  );
  return { ...result, ...loadOf(result.stdout), to };
}

const tenthFails: Respond = (response, { number }) => {
  response.statusCode = number % 10 === 0 ? 503 : 200;
  response.end();
};

const seventhResets: Respond = (response, { number }) => {
  if (number % 7 === 0) response.destroy();
  else response.end();
};

const twentiethHangs: Respond = (response, { number }) => {
  if (number % 20 !== 0) response.end();
};

const ninetiethIsLate: Respond = (response, { number }) =>
  void setTimeout(() => response.end(), number === 90 ? 1_500 : 0);

function failsUntil(last: number): Respond {
  return (response, { number }) => {
    response.statusCode = number <= last ? 503 : 200;
    response.end();
  };
}

function slowly(ms: number): Respond {
  return async (response) => {
    await delay(ms);
    response.end();
  };
}

describe.concurrent('hooks replay --load', AGAIN, () => {
  it('sends signed, distinct messages with fresh times, and a line for each second', async () => {
    const { code, summary, load, seconds, to } = await loaded(argv`--load 100/s --for 2s --loop`);
    expect(code).toBe(0);
    expect(summary).toMatchObject({ read: 200, delivered: 200, failed: 0, unsent: 0 });
    expect(load).toMatchObject({ sent: 200, acknowledged: 200, errors: 0, slo: [] });
    expect(to.bodies).toHaveLength(200);
    expect(new Set(fields(to.bodies, 'messageId')).size).toBe(200);
    expect(fields(to.bodies, 'timestamp')).not.toContain(fields([track(0)], 'timestamp')[0]);
    for (const [index, body] of to.bodies.entries()) {
      expect(to.headers[index]?.['x-signature']).toBe(sign(body, SECRET));
    }
    expect(seconds.length).toBeGreaterThanOrEqual(2);
    expect(seconds.map(({ second }) => second)).toEqual(seconds.map((_, index) => index + 1));
    const { p50 = 0, p99 = 0, max = 0 } = load.latencyMs;
    expect(p50).toBeLessThanOrEqual(p99);
    expect(p99).toBeLessThanOrEqual(max);
    expect(load.serviceMs['p50']).toBeLessThanOrEqual(p50);
  });

  it('sends the exact bytes again with --loop --exact', async () => {
    const { to, code } = await loaded(argv`--load 50/s --for 500ms --loop --exact`);
    expect(code).toBe(0);
    expect(to.bodies).toHaveLength(25);
    expect(new Set(to.bodies)).toEqual(new Set(tracks(5).trim().split('\n')));
  });

  it('keeps the ids of the file without --loop, and says when no message is left', async () => {
    const { to, load, summary, code } = await loaded(argv`--load 50/s --for 10s`);
    expect(code).toBe(0);
    expect(fields(to.bodies, 'messageId')).toEqual(['m0', 'm1', 'm2', 'm3', 'm4']);
    expect(load.stopped).toBe('no-messages');
    expect(summary.read).toBe(5);
  });

  it('holds no objective when every message is invalid, and says so', async () => {
    const to = await loadReceiver();
    const cwd = temporaryFolder({ 'cut.json': '{"type":"track","userId":"u"' });
    const args = argv`replay cut.json --url ${to.url} --load 20/s --for 1s --loop --slo errors<1%`;
    const { code, stdout } = await hooks(args, { cwd });
    expect(stdout).toMatch(/errors<1% +no value/);
    expect(stdout).toMatch(/verdict +broken: 1 invalid/);
    expect(code).toBe(1);
  });

  it('prints nothing with -q if the verdict is held', async () => {
    const to = await loadReceiver();
    const args = argv`replay day.ndjson --url ${to.url} --load 20/s --for 200ms --loop -q --slo p99<1h`;
    const { code, stdout } = await hooks(args, { cwd: folder() });
    expect(stdout === '').toBe(code === 0);
  });

  it('does not hold a rate when no message is left before the end', async () => {
    const { load, code } = await loaded(argv`--load 5/s --for 10s --slo rate>=1/s`);
    expect(load).toMatchObject({ stopped: 'no-messages', verdict: 'broken', acknowledged: 5 });
    expect(load.slo).toEqual([{ expr: 'rate>=1/s', held: false, value: null }]);
    expect(code).toBe(1);
  });

  it('finds no highest rate in a step that runs out of messages', async () => {
    const { load, code } = await loaded(argv`--load max --for 10s --slo rate>=50/s`);
    expect(load).toMatchObject({
      stopped: 'no-messages',
      verdict: 'unfinished',
      max: { rate: null, curve: [] },
    });
    expect(code).toBe(1);
  });

  it('counts each message when the receiver responds with 503 to a tenth', async () => {
    const { code, summary, load, to } = await loaded(argv`--load 100/s --for 2s --loop`, {
      respond: tenthFails,
    });
    expect(code).toBe(1);
    expect(summary).toMatchObject({ read: 200, delivered: 180, failed: 20 });
    expect(load.errors).toBe(20);
    expect(Object.values(load.failures)).toEqual([20]);
    expect(to.bodies).toHaveLength(200);
  });

  it.each([
    ['errors<20%', 0, true],
    ['errors<5%', 1, false],
  ])('exits by %s, in place of single failures', async (slo, code, held) => {
    const result = await loaded(argv`--load 100/s --for 1s --loop --slo ${slo}`, { respond: tenthFails });
    const [objective] = result.load.slo;
    expect(objective).toMatchObject({ expr: slo, held, value: 10 });
    expect(objective?.brokeInSecond).toBe(held ? undefined : 1);
    // A sender that a busy machine delays says so, and has no verdict.
    if (result.load.verdict === 'sender-bottleneck') expect(result.code).toBe(2);
    else expect(result.code).toBe(code);
  });

  it('counts each message when the receiver resets connections', async () => {
    const { code, summary, load, to } = await loaded(argv`--load 200/s --for 2s --loop`, {
      respond: seventhResets,
    });
    expect(summary.read).toBe(400);
    expect(summary.unsent).toBe(0);
    // The HTTP client sends a message again if its connection dies before the first byte of a response.
    const reset = new Set(fields(to.bodies, 'messageId').filter((_id, index) => (index + 1) % 7 === 0));
    expect(reset.size).toBeGreaterThan(50);
    expect(summary).toMatchObject({ failed: reset.size, delivered: 400 - reset.size });
    expect(load).toMatchObject({ errors: reset.size, verdict: 'failed' });
    expect(Object.keys(load.failures).every((text) => text.includes('connection broken off'))).toBe(true);
    expect(Object.keys(load.failures)).toContainEqual(expect.stringContaining('sent the message again'));
    expect(code).toBe(1);
  });

  it('does not wait for the responses of a receiver that stalls', async () => {
    const start = performance.now();
    const respond: Respond = async (response) => {
      const phase = (performance.now() - start) % 1_000;
      if (phase > 500) await delay(1_000 - phase);
      response.end();
    };
    const { summary, load, to } = await loaded(argv`--load 100/s --for 3s --loop`, { respond });
    expect(summary).toMatchObject({ read: 300, delivered: 300 });
    // A closed loop of 10 connections would have at most 10.
    expect(to.peak()).toBeGreaterThan(15);
    expect(load.latencyMs['max']).toBeGreaterThan(300);
    expect(load.latencyMs['p90']).toBeGreaterThan(100);
  });

  it('counts nothing of the warm-up', async () => {
    const { load, summary, to } = await loaded(argv`--load 50/s --for 1s --warmup 1s --loop`);
    expect(load.sent).toBe(50);
    expect(summary.read).toBe(100);
    expect(to.bodies).toHaveLength(100);
  });

  it('has at most the messages of --concurrency in flight, and counts the wait as latency', async () => {
    const respond = slowly(40);
    const flags = argv`--load 200/s --for 1s --loop --concurrency 2`;
    const { code, load, to } = await loaded(flags, { respond });
    expect(load.verdict).not.toBe('held');
    expect(code).not.toBe(0);
    expect(to.peak()).toBeLessThanOrEqual(2);
    expect(load.sent + load.notSent).toBe(200);
    expect(load.notSent).toBeGreaterThan(0);
    expect(load.errors).toBe(load.notSent);
    expect(load.latencyMs['p99']).toBeGreaterThan(2 * (load.serviceMs['p50'] ?? 0));
  });

  it('keeps the order of a user only with --order user', async () => {
    const respond = slowly(30);
    const [ordered, free] = await Promise.all([
      loaded(['--load', 'burst 20 each 1s', '--for', '1s', '--loop', '--order', 'user'], { respond }),
      loaded(['--load', 'burst 20 each 1s', '--for', '1s', '--loop'], { respond }),
    ]);
    expect(ordered.to.peak()).toBe(1);
    expect(free.to.peak()).toBeGreaterThan(1);
    expect(ordered.summary.delivered).toBe(20);
  });

  it('counts a message that waits for its user as sent only when it is sent', async () => {
    const { load, seconds, to } = await loaded(argv`--load 20/s --for 1s --loop --order user`, {
      respond: slowly(400),
    });
    expect(load.sent).toBe(to.bodies.length);
    expect(load.sent + load.notSent).toBe(20);
    expect(load.notSent).toBeGreaterThan(5);
    expect(seconds.reduce((sum, { sent }) => sum + sent, 0)).toBe(load.sent);
    expect(Math.max(...seconds.map(({ sent }) => sent))).toBeLessThanOrEqual(4);
  });

  it('counts each failure, also of the 21st kind', async () => {
    const { load } = await loaded(argv`--load 30/s --for 1s --loop`, {
      respond: (response, { number }) => {
        response.statusCode = 500 + number;
        response.end();
      },
    });
    expect(load.failures).toMatchObject({ 'failed in other ways': 10 });
    expect(Object.values(load.failures).reduce((sum, count) => sum + count, 0)).toBe(30);
  });

  it('retries only with --retry-for, and the latency lasts until the message is acknowledged', async () => {
    const seen = new Set<number>();
    const respond: Respond = (response, { number }) => {
      response.statusCode = seen.size < 3 ? 503 : 200;
      seen.add(number);
      response.end();
    };
    const { code, summary, load } = await loaded(argv`--load 20/s --for 500ms --loop --retry-for 20s`, {
      respond,
    });
    expect(code).toBe(0);
    expect(summary).toMatchObject({ read: 10, delivered: 10, failed: 0 });
    expect(load.latencyMs['max']).toBeGreaterThan(400);
    expect(load.serviceMs['max']).toBeLessThan(load.latencyMs['max'] ?? 0);
    expect(load.retries).toBe(seen.size - 10);
  });

  it('keeps the rate with --retry-for: a retry takes the place of a message', async () => {
    const flags = argv`--load 50/s --for 4s --loop --retry-for 3s`;
    const { code, load, summary, to } = await loaded(flags, { respond: failsUntil(Infinity) });
    expect(to.bodies).toHaveLength(load.sent + load.retries);
    expect(load.retries).toBeGreaterThan(0);
    // Without it, each of the 200 messages has two retries or more.
    expect(load.sent).toBeLessThan(180);
    expect(summary.failed).toBe(load.sent);
    expect(load.verdict).toBe('failed');
    expect(code).toBe(1);
  });

  it('counts a message without a response with the time that it has waited', async () => {
    const flags = argv`--load 100/s --for 1s --loop --timeout 700ms --slo p99<600ms`;
    const { load, code } = await loaded(flags, { respond: twentiethHangs });
    expect(load).toMatchObject({ acknowledged: 95, errors: 5 });
    expect(load.latencyMs['p99']).toBeGreaterThanOrEqual(690);
    expect(code).not.toBe(0);
  });

  it('does not judge the warm-up', async () => {
    const respond = failsUntil(30);
    const { code, load, summary } = await loaded(argv`--load 50/s --for 1s --warmup 1s --loop`, { respond });
    expect(load).toMatchObject({ errors: 0, failures: {}, warmupFailed: 30, verdict: 'held' });
    expect(summary).toMatchObject({ delivered: 70, failed: 30 });
    expect(code).toBe(0);
  });

  it('does not lower the rate for one late response', async () => {
    const flags = argv`--load 100/s --for 1s --loop --slo rate>=95/s`;
    const { load } = await loaded(flags, { respond: ninetiethIsLate });
    expect(load.acknowledged).toBe(100);
    if (load.verdict !== 'sender-bottleneck') expect(load.rate).toBeGreaterThanOrEqual(95);
  });

  it('reads standard input once, and repeats it from memory', async () => {
    const to = await loadReceiver();
    const args = argv`replay - --url ${to.url} --load 50/s --for 400ms --loop ${JSON_OUTPUT}`;
    const { code, stdout } = await hooks(args, { stdin: tracks(3) });
    expect(code).toBe(0);
    expect(loadOf(stdout).summary.delivered).toBe(20);
    expect(new Set(fields(to.bodies, 'messageId')).size).toBe(20);
  });

  it('reports an invalid entry once, and leaves out what the filter does not select', async () => {
    const cwd = temporaryFolder({
      'day.ndjson': `${track(1)}\n{"type":"nonsense"}\n${track(2, { event: 'Other' })}\n`,
    });
    const { summary, stderr, code, to } = await loaded(
      argv`--load 50/s --for 400ms --loop --filter event!=Other`,
      {
        cwd,
      },
    );
    expect(code).toBe(1);
    expect(summary).toMatchObject({ delivered: 20, invalid: 1, skipped: 1, read: 21 });
    expect(stderr.match(/invalid:/g)).toHaveLength(1);
    expect(new Set(fields(to.bodies, 'event'))).toEqual(new Set(['Signup']));
  });

  it('stops when a pass over the files has no message', async () => {
    const to = await loadReceiver();
    const cwd = folder();
    const args = argv`replay day.ndjson --url ${to.url} --load 50/s --for 30s --loop --filter event=None`;
    const { code, stderr } = await hooks(args, { cwd });
    expect(code).toBe(2);
    expect(stderr).toContain('nothing is left of 5 messages after --filter');
  });

  it('prints the results so far after Ctrl-C', async () => {
    const to = await loadReceiver();
    const args = argv`replay day.ndjson --url ${to.url} --load 100/s --for 5m --loop ${JSON_OUTPUT}`;
    const running = startHooks(args, { cwd: folder() });
    await until(() => to.bodies.length > 20, 'messages');
    const { code, stdout } = await running.stop();
    expect(code).toBe(130);
    const { summary, load } = loadOf(stdout);
    expect(load.stopped).toBe('interrupted');
    expect(summary.delivered).toBeGreaterThan(20);
    expect(summary.delivered).toBeLessThanOrEqual(to.bodies.length);
  });

  it('aborts what is in flight a second after Ctrl-C, and counts it as unsent', async () => {
    const to = await loadReceiver(() => {});
    const args = argv`replay day.ndjson --url ${to.url} --timeout 30s --load 20/s --for 5m --loop ${JSON_OUTPUT}`;
    const running = startHooks(args, { cwd: folder() });
    await until(() => to.bodies.length > 5, 'messages');
    const { code, stdout } = await running.stop();
    expect(code).toBe(130);
    const { summary, load } = loadOf(stdout);
    expect(summary.unsent).toBe(summary.read);
    expect(load).toMatchObject({ unsent: load.sent, verdict: 'interrupted' });
  });

  it('finds the highest rate of a receiver with a token bucket', async () => {
    let [tokens, at] = [4, performance.now()];
    const respond: Respond = (response) => {
      const now = performance.now();
      tokens = Math.min(4, tokens + ((now - at) * 40) / 1_000);
      at = now;
      response.statusCode = tokens >= 1 ? 200 : 429;
      if (tokens >= 1) tokens--;
      response.end();
    };
    const { code, load } = await loaded(argv`--load max --for 24s --loop --slo errors<1%`, { respond });
    const { rate = 0, curve = [], reached = 0 } = load.max ?? {};
    // The bucket allows 40 a second and 4 more, however busy the machine is.
    expect(reached).toBeLessThan(46);
    expect(curve[0]).toMatchObject({ rate: 50 });
    expect(curve.length).toBeGreaterThan(3);
    if (load.verdict === 'held') expect(rate).toBeGreaterThan(0);
    expect(code).toBe({ held: 0, broken: 1, 'sender-bottleneck': 2, unfinished: 1 }[load.verdict]);
  });
});

it('has no result when the time of a search ends first', async () => {
  const to = await loadReceiver();
  const args = argv`replay day.ndjson --url ${to.url} --load max --for 1s --loop --slo p99<1h`;
  const { code, stdout } = await hooks(args, { cwd: folder() });
  expect(stdout).toMatch(/no result: 50\/s held, unconfirmed|sender-bottleneck/);
  expect(stdout).not.toContain('the highest rate');
  expect([1, 2]).toContain(code);
});

describe.concurrent('hooks replay --load --received', AGAIN, () => {
  it('finds the messages that were acknowledged and did not arrive', async () => {
    let stored = 1_000;
    const to = await loadReceiver((response, { number }) => {
      if (number % 5 !== 0) stored++;
      response.end();
    });
    const cwd = folder();
    const server = await countServer(() => stored);
    const args = argv`replay day.ndjson --url ${to.url} --load 50/s --for 1s --loop --slo lost=0 --received ${server} ${JSON_OUTPUT}`;
    const { code, stdout } = await hooks(args, { cwd });
    const { load } = loadOf(stdout);
    expect(load).toMatchObject({ acknowledged: 50, received: 40, lost: 10 });
    expect(load.slo).toEqual([{ expr: 'lost=0', held: false, value: 10 }]);
    expect(code).toBe(load.verdict === 'sender-bottleneck' ? 2 : 1);
  });

  it('compares lost messages with all that were acknowledged, those of the warm-up included', async () => {
    let stored = 0;
    const to = await loadReceiver((response, { number }) => {
      if (number % 2 === 0) stored++;
      response.end();
    });
    const source = await countServer(() => stored);
    const args = argv`replay day.ndjson --url ${to.url} --load 20/s --for 1s --warmup 1s --loop ${JSON_OUTPUT}`;
    const { stdout } = await hooks([...args, '--slo', 'lost<60%', '--received', source], { cwd: folder() });
    expect(loadOf(stdout).load).toMatchObject({
      acknowledged: 20,
      lost: 20,
      slo: [{ expr: 'lost<60%', held: true, value: 50 }],
    });
  }, 60_000);

  it('does not show a command that prints no number', async () => {
    const to = await loadReceiver();
    const args = ['--received', 'true s3cret-of-a-command'];
    const { code, stderr } = await hooks(
      argv`replay day.ndjson --url ${to.url} --load 20/s --for 1s ${args}`,
      {
        cwd: folder(),
      },
    );
    expect(code).toBe(2);
    expect(stderr).toContain('(`--received`): expected a number, got nothing');
    expect(stderr).not.toContain('s3cret-of-a-command');
  });

  it('takes the number from a command', async () => {
    const cwd = folder();
    const to = await loadReceiver();
    const args = ['--received', 'echo 7', '-o', 'json'];
    const { stdout, code } = await hooks(
      argv`replay day.ndjson --url ${to.url} --load 20/s --for 500ms --loop ${args}`,
      {
        cwd,
      },
    );
    // The number does not grow, so no message arrived.
    expect(loadOf(stdout).load).toMatchObject({ received: 0, lost: 10, verdict: 'failed' });
    expect(code).toBe(1);
  });

  it('waits for a number that lags behind', async () => {
    let stored = 0;
    const to = await loadReceiver((response) => {
      setTimeout(() => stored++, 2_500);
      response.end();
    });
    const source = await countServer(() => stored);
    const args = argv`replay day.ndjson --url ${to.url} --load 20/s --for 500ms --loop ${JSON_OUTPUT}`;
    const { stdout } = await hooks([...args, '--received', source], { cwd: folder() });
    expect(loadOf(stdout).load).toMatchObject({ acknowledged: 10, received: 10, lost: 0 });
  });

  it('adds up a number that falls during the load', async () => {
    let [stored, restarts] = [0, 0];
    const to = await loadReceiver((response) => {
      stored++;
      response.end();
    });
    // Restarts after a reading during the load, so that everything that was counted before is known.
    const source = await countServer(() => {
      const count = stored;
      if (count > 20 && restarts === 0) [stored, restarts] = [0, 1];
      return count;
    });
    const args = argv`replay day.ndjson --url ${to.url} --load 20/s --for 5s --loop ${JSON_OUTPUT}`;
    const { stdout } = await hooks([...args, '--received', source], { cwd: folder() });
    expect(restarts).toBe(1);
    expect(loadOf(stdout).load).toMatchObject({ acknowledged: 100, received: 100, lost: 0 });
  });

  it.each([
    ['counts again from 0 after a number that falls', 50, 0, 10, 0],
    ['does not know what arrived before a number fell', 50, -4, 6, null],
  ])('%s', async (_name, before, missing, received, lost) => {
    const to = await loadReceiver();
    const source = await countServer(() =>
      to.bodies.length === 0 ? before : Math.max(0, to.bodies.length + missing),
    );
    const args = argv`replay day.ndjson --url ${to.url} --load 20/s --for 500ms --loop ${JSON_OUTPUT}`;
    const { stdout, stderr, code } = await hooks([...args, '--received', source], { cwd: folder() });
    expect(loadOf(stdout).load).toMatchObject({ acknowledged: 10, received, lost });
    expect(stderr).toContain('the number of --received fell or could not be read');
    expect(code).toBe(0);
  });

  it.each(['a URL', 'a command'])(
    'ends the first reading of %s after Ctrl-C, and sends nothing',
    async (kind) => {
      const cwd = folder();
      const [to, silent] = [await loadReceiver(), await loadReceiver(() => {}, { respondsToGet: false })];
      const source = kind === 'a URL' ? silent.url : `touch begun; sleep 60`;
      const isReading = (): boolean => silent.requests() > 0 || existsSync(join(cwd, 'begun'));
      const args = argv`replay day.ndjson --url ${to.url} --load 20/s --for 1s --received ${source}`;
      const running = startHooks(args, { cwd });
      await until(isReading, 'the reading');
      const isRunning = Promise.race([delay(5_000, true, { ref: false }), running.exited.then(() => false)]);
      const { code, stderr } = await running.stop();
      expect({ code, stderr, isRunning: await isRunning }).toEqual({
        code: 130,
        stderr: '',
        isRunning: false,
      });
      expect(to.bodies).toHaveLength(0);
    },
  );

  it('reads a URL with credentials, and prints no secret of one', async () => {
    const to = await loadReceiver();
    const cwd = folder();
    const source = await countServer(() => to.acknowledged());
    const secret = source.replace('://', '://bob:hunter2@') + '?token=tok123';
    const args = argv`replay day.ndjson --url ${to.url} --load 20/s --for 500ms --loop ${JSON_OUTPUT} --received`;
    const { stdout, stderr } = await hooks([...args, secret], { cwd });
    expect(loadOf(stdout).load).toMatchObject({ received: 10, lost: 0 });
    const nothing = await hooks([...args, 'http://bob:hunter2@127.0.0.1:1/?token=tok123'], { cwd });
    const word = await hooks([...args, `${secret}&many=1`.replace('/count', '/many')], { cwd });
    expect([nothing.code, word.code]).toEqual([2, 2]);
    expect(`${stdout}${stderr}${nothing.stderr}${word.stderr}`).not.toMatch(/hunter2|tok123/);
  });

  it('rejects a response without an end', async () => {
    const { createServer } = await import('node:http');
    const server = createServer((_request, response) => {
      const timer = setInterval(() => response.write('9'.repeat(10_000)), 5);
      response.on('close', () => clearInterval(timer));
    });
    await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
    const { port } = server.address() as { port: number }; // a TCP server has one
    const args = argv`replay day.ndjson --url http://127.0.0.1:1 --load 1/s --for 1s --received http://127.0.0.1:${port}`;
    const { code, stderr } = await hooks(args, { cwd: folder() });
    server.close();
    expect(stderr).toContain('the response is longer than 65536 bytes');
    expect(code).toBe(2);
  });

  it.each([
    ['exit 3', 'the command ended with 3'],
    ['echo many', 'expected a number, got many'],
    ['http://127.0.0.1:1/', 'cannot be read'],
  ])('rejects %s before anything is sent', async (source, reason) => {
    const to = await loadReceiver();
    const args = ['--load', '20/s', '--for', '1s', '--received', source];
    const { code, stderr } = await hooks(argv`replay day.ndjson --url ${to.url} ${args}`, { cwd: folder() });
    expect(code).toBe(2);
    expect(stderr).toContain(reason);
    expect(to.bodies).toHaveLength(0);
  });
});

async function countServer(count: () => number): Promise<string> {
  const { createServer } = await import('node:http');
  const server = createServer(
    ({ url = '' }, response) =>
      void response.end(url.startsWith('/many') ? 'many' : JSON.stringify({ received: count() })),
  );
  server.unref();
  await new Promise<void>((resolve) => void server.listen(0, '127.0.0.1', resolve));
  const address = server.address();
  return `http://127.0.0.1:${typeof address === 'object' ? address?.port : ''}/count`;
}

describe.concurrent('hooks replay --load at a terminal', AGAIN, () => {
  it('plots the rate and the latency, and writes one page without scripts', async () => {
    const to = await loadReceiver();
    const cwd = folder();
    const flags = ['--slo', 'errors<1%', '--report', 'load.html'];
    const { stdout, stderr } = await hooks(
      argv`replay day.ndjson --url ${to.url} --load 50/s --for 3s --loop ${flags}`,
      {
        cwd,
        terminalColumns: 80,
      },
    );
    expect(stdout).toContain('acknowledged per second');
    expect(stdout).toContain('latency p99');
    expect(stdout).toMatch(/[▁-█]/);
    expect(stdout).toContain('errors<1%');
    expect(stderr).toMatch(/50\/s, \d+ in flight/);
    const html = readFileSync(join(cwd, 'load.html'), 'utf8');
    expect(html).toContain('<svg');
    expect(html).toContain('errors&lt;1%');
    expect(html).not.toMatch(/<script|<link|<img|@import|url\(/);
    expect(html.replaceAll(to.url, '')).not.toMatch(/https?:/);
  });

  it('asks before it sends to a public host', async () => {
    const running = startHooks(
      argv`replay day.ndjson --url http://93.184.216.34/ --load 20/s --for 1s --loop`,
      {
        cwd: folder(),
        terminalColumns: 80,
        hasKeys: true,
      },
    );
    await until(() => running.screen().includes('a public host'), 'the question');
    running.press('n');
    expect((await running.exited).code).toBe(1);
    expect(running.screen()).toContain('Nothing was sent');
  });
});

describe.concurrent('hooks replay --load rejects', AGAIN, () => {
  it.each([
    ['--load 200/s', '`--load 200/s` needs a duration'],
    ['--load nonsense --for 1s', 'Expected `--load` to have a rate such as 200/s, got nonsense'],
    ['--load max --for 1s', '`--load max` needs the objectives'],
    ['--load 1/s --for 1s --slo p99', 'Expected `--slo` to have an objective, got p99'],
    ['--load 1/s --for 1s --slo lost=0', '`lost=0` needs the number of messages that arrived'],
    ['--load 1/s --for 1s --duration 2s', '`--duration` and `--for` cannot be given together'],
    ['--load 1/s --for 1s --report load.json', 'Expected `--report` of a load to be an .html file'],
    ['--load 1/s --for 1s --workers 0', 'Expected `--workers` to be 1 to 64, got 0'],
    ['--load 1/s --for 1s --workers two', 'Expected `--workers` to be 1 to 64, got two'],
    ['--load 1/s --for 1s --workers 65', 'Expected `--workers` to be 1 to 64, got 65'],
    ['--load 1/s --for 1s --workers 2 --order user', 'do not keep the order of a user'],
    ['- --load 1/s --for 1s --workers 2', 'which cannot share standard input'],
    ['--workers 2', '`--workers` is for `--load`, which is not given'],
    ['--load 1/s --for 1s --rate 5/s', '`--load` and `--rate` cannot be given together'],
    ['--load 1/s --for 1s --speed 2x', '`--load` and `--speed` cannot be given together'],
    ['--load 1/s --for 1s --resume', '`--load` and `--resume` cannot be given together'],
    ['--load 1/s --for 1s --dry-run', '`--load` and `--dry-run` cannot be given together'],
    ['--load 1/s --for 1s --queue', '`--load` and `--queue` cannot be given together'],
    [
      '--load 1/s --for 1s --endpoint http://127.0.0.1:1',
      '`--load` and `--endpoint` cannot be given together',
    ],
    ['--load 1/s --for 1s --url http://127.0.0.1:2', 'Expected one webhook for a load, got 2'],
    ['--for 1s', '`--for` is for `--load`, which is not given'],
    ['--slo errors=0', '`--slo` is for `--load`, which is not given'],
  ])('%s', async (flags, sentence) => {
    const to = await loadReceiver();
    const { code, stderr } = await hooks(argv`replay day.ndjson --url ${to.url} ${flags.split(' ')}`, {
      cwd: folder(),
    });
    expect(stderr).toContain(sentence);
    expect(code).toBe(2);
    expect(to.bodies).toHaveLength(0);
  });

  it.each([
    ['a public address', 'http://93.184.216.34/', {}],
    ['a public IPv6 address', 'http://[2606:2800:220:1:248:1893:25c8:1946]/', {}],
    ['a host behind a proxy', 'http://receiver.example/', { http_proxy: 'http://127.0.0.1:1' }],
  ])('%s without a terminal and without --yes', async (_name, url, env) => {
    const { code, stderr } = await hooks(argv`replay day.ndjson --url ${url} --load 1/s --for 1s`, {
      cwd: folder(),
      env,
    });
    expect(code).toBe(2);
    expect(stderr).toContain('There is no terminal at which to confirm sending to a public host');
    expect(stderr).toContain('--yes');
  });

  it('a public host without --yes, whatever the config and the environment say', async () => {
    const cwd = temporaryFolder({ 'day.ndjson': tracks(1), '.hooksrc.json': JSON.stringify({ yes: true }) });
    const args = argv`replay day.ndjson --url http://93.184.216.34/ --load 1/s --for 1s`;
    const { code } = await hooks(args, { cwd, env: { HOOKS_YES: 'true' } });
    expect(code).toBe(2);
  });
});

describe.concurrent('hooks replay --load --yes', AGAIN, () => {
  it('sends to a public host through its proxy', async () => {
    const proxy = await loadReceiver();
    const env = { http_proxy: proxy.url };
    const args = argv`replay day.ndjson --url http://receiver.example/ --load 20/s --for 500ms --loop --yes ${JSON_OUTPUT}`;
    const { code, stdout } = await hooks(args, { cwd: folder(), env });
    expect(code).toBe(0);
    expect(loadOf(stdout).summary.delivered).toBe(10);
    expect(proxy.headers[0]?.host).toBe('receiver.example');
  });
});
