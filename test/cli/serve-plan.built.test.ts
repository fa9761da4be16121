import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, it } from 'vitest';
import { basic } from '../service/serving.ts';
import { jsonLines, receiving } from '../end-to-end/receiving.ts';
import { nextJson, type RunningCommand } from '../end-to-end/running-command.ts';
import { startHooks as startBuilt, type HooksOptions } from '../end-to-end/hooks.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { until } from '../until.ts';
import { hooks, startHooks } from './run-in-process.ts';

const plan = (type: string): string => {
  const schema = { properties: { properties: { properties: { n: { type } }, required: ['n'] } } };
  return JSON.stringify({ rules: [{ key: 'A', type: 'TRACK', version: 1, jsonSchema: schema }] });
};

interface Sent {
  readonly status: number;
  readonly body: Readonly<Record<string, unknown>>;
}

type Start<Running> = (args: readonly string[], options: HooksOptions) => Running;

/** Starts the service in this process. */
function serving(onViolation: 'report' | 'reject') {
  return servingBy(startHooks, onViolation);
}

async function servingBy<Running extends RunningCommand>(
  start: Start<Running>,
  onViolation: 'report' | 'reject',
) {
  const receiver = await receiving({});
  const cwd = temporaryFolder({ 'plan.json': plan('integer') });
  const env = { HOOKS_DATA_DIR: join(cwd, 'data') };
  const Webhooks = { webhooks: [receiver.url], delivery: { allowPrivate: true } };
  const source = { writeKey: 'k', plan: { file: 'plan.json', onViolation }, destinations: { Webhooks } };
  writeFileSync(join(cwd, '.hooksrc.json'), JSON.stringify({ sources: { web: source } }));
  const serve = start(['serve', '--port', '0', '-o', 'json'], { cwd, env, timeoutMs: 60_000 });
  const { url } = await nextJson<{ url: string }>(serve);
  const post = async (path: string, body: object): Promise<Sent> => {
    const text = JSON.stringify(body);
    const response = await fetch(url + path, { method: 'POST', headers: basic('k'), body: text });
    const received = await response.text();
    // The control characters of a message are escaped.
    expect(received).not.toMatch(/\p{Cc}/u);
    return { status: response.status, body: JSON.parse(received) as Sent['body'] }; // JSON of the service
  };
  const metrics = (): Promise<string> => fetch(`${url}/metrics`).then((response) => response.text());
  const bodies = (): string[] => receiver.bodies();
  const queue = (...args: readonly string[]) => hooks(['queue', ...args], { cwd, env });
  const send = (...args: readonly string[]) =>
    hooks(['send', 'track', '--event', 'A', '--user-id', 'u', ...args], {
      cwd: temporaryFolder(),
      env: { HOOKS_ENDPOINT: url, HOOKS_WRITE_KEY: 'k' },
    });
  return { cwd, serve, post, metrics, bodies, queue, send };
}

const message = (n: unknown, messageId: string, event = 'A'): object => {
  return { type: 'track', event, userId: 'u', messageId, properties: { n } };
};

it('counts and logs a violation with onViolation: report, and delivers the message', async () => {
  const { post, metrics, bodies, serve } = await serving('report');
  expect(await post('/v1/track', message('x', 'm1'))).toMatchObject({ status: 200 });
  expect(await post('/v1/track', message(1, 'm2', `B${'x'.repeat(50)}`))).toMatchObject({ status: 200 });
  await until(() => bodies().length === 2, 'both messages');
  const text = await metrics();
  expect(text).toContain('hooks_plan_violations_total{source="web",event="A",kind="type"} 1');
  // The names of events that the plan does not have come from callers, so they are no labels.
  expect(text).toContain('hooks_plan_violations_total{source="web",event="",kind="unplanned-event"} 1');
  const { stderr } = await serve.stop();
  expect(stderr).toContain('"msg":"a message violates the tracking plan"');
  expect(stderr).toContain('"path":"properties.n","expected":"a value of type integer"');
});

it('keeps a rejected message as a dead letter, which queue retry delivers', async () => {
  const { post, bodies, queue, serve, metrics } = await serving('reject');
  const reason = 'Violates the plan at `properties.n`: expected a value of type integer';
  expect(await post('/v1/track', message('x', 'm1'))).toMatchObject({
    status: 400,
    body: { success: false, code: 'unplanned', message: reason },
  });
  const batch = { batch: [message(1, 'm2'), message('x\u009b', 'm3')] };
  expect(await post('/v1/batch', batch)).toMatchObject({
    status: 200,
    body: {
      success: true,
      rejected: [{ index: 1, code: 'unplanned', message: reason.replace('"x"', '"x\u009b"') }],
    },
  });
  await until(() => bodies().length === 1, 'the message that follows the plan');
  expect(await metrics()).toContain(
    'hooks_dead_letters_total{source="web",destination="",reason="unplanned"} 2',
  );
  // The same call again is the same dead letter, although the message has no timestamp.
  expect(await post('/v1/track', message('x', 'm1'))).toMatchObject({ status: 400 });
  const listed = await queue('list', '--state', 'dead', '-o', 'json');
  expect(jsonLines(listed.stdout)).toMatchObject([
    { reason: 'unplanned', destination: 'Webhooks', messageId: expect.any(String) },
    { reason: 'unplanned', destination: 'Webhooks', messageId: expect.any(String) },
  ]);
  // The corrected message has the same id as the rejected one.
  expect(await post('/v1/track', message(3, 'm1'))).toMatchObject({ status: 200 });
  await until(() => bodies().length === 2, 'the corrected message');
  // Only the message that the client has not sent again is delivered.
  const note = '1 dead letter: the client has sent its message again, and it was accepted';
  const all = ['retry', '--all', '--filter', 'reason=unplanned'];
  expect(await queue(...all, '--dry-run')).toMatchObject({ code: 0, stdout: '1 would be retried\n' });
  const retried = await queue(...all, '--yes');
  expect(retried).toMatchObject({ code: 0, stdout: 'retried 1, resent 1\n' });
  expect(retried.stderr).toContain(note);
  await until(() => bodies().length === 3, 'the message after the retry');
  const [left] = jsonLines((await queue('list', '--state', 'dead', '-o', 'json')).stdout);
  expect(left).toMatchObject({ messageId: 'm1', reason: 'unplanned' });
  expect(await queue('retry', String(left?.['id']), '-o', 'json')).toMatchObject({
    code: 1,
    stdout: expect.stringContaining('"result":"resent"'),
  });
  await serve.stop();
  expect(bodies()).toHaveLength(3);
});

it('is named by hooks send, not the status of the batch', async () => {
  const { send, serve } = await serving('reject');
  const rejected = await send();
  expect(rejected).toMatchObject({
    code: 1,
    stdout: expect.stringMatching(/^✗ failed +track +A +unplanned /),
  });
  expect(rejected.stdout).not.toMatch(/ 200 /);
  expect(await send('-p', 'n=1')).toMatchObject({
    code: 0,
    stdout: expect.stringMatching(/^✓ delivered +track +A +200 /),
  });
  await serve.stop();
});

it('loads a changed plan on SIGHUP, and keeps the old one if the new one is broken', async () => {
  // SIGHUP needs a process of its own.
  const { cwd, post, serve } = await servingBy(startBuilt, 'reject');
  expect(await post('/v1/track', message('x', 'm1'))).toMatchObject({ status: 400 });
  writeFileSync(join(cwd, 'plan.json'), '{"rules": [{"key": "A"}]}');
  serve.child.kill('SIGHUP');
  await until(() => serve.stderr().includes('cannot be used; the earlier one stays'), 'the log line');
  expect(await post('/v1/track', message('x', 'm2'))).toMatchObject({ status: 400 });
  writeFileSync(join(cwd, 'plan.json'), plan('string'));
  serve.child.kill('SIGHUP');
  await until(async () => (await post('/v1/track', message('x', 'm3'))).status === 200, 'the new plan');
  expect((await serve.stop()).code).toBe(0);
});

it('exits with 2 for a plan that cannot be used', async () => {
  const cwd = temporaryFolder({
    'plan.json': '{"rules":[{"key":"A","type":"TRACK","version":1,"jsonSchema":{"type":"strnig"}}]}',
    '.hooksrc.json':
      '{"sources":{"web":{"writeKey":"k","plan":{"file":"plan.json"},"destinations":{"W":{"webhooks":["http://127.0.0.1:9/"],"delivery":{"allowPrivate":true}}}}}}',
  });
  const { code, stderr } = await hooks(['serve', '--port', '0'], { cwd });
  expect([code, stderr]).toEqual([
    2,
    expect.stringContaining('plan.json: expected a JSON Schema that compiles'),
  ]);
});
