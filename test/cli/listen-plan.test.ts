import { describe, expect, it } from 'vitest';
import { jsonLines } from '../end-to-end/receiving.ts';
import { nextUrl } from '../end-to-end/running-command.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { hooks, startHooks } from './run-in-process.ts';

const properties = { type: 'object', properties: { n: { type: 'number' } } };
const jsonSchema = { type: 'object', properties: { properties } };
const PLAN = JSON.stringify({ rules: [{ key: 'A', type: 'TRACK', version: 1, jsonSchema }] });

const track = (event: string, values: object): object => ({
  type: 'track',
  event,
  userId: 'u1',
  properties: values,
  writeKey: 's3cret-key',
});
const GOOD = track('A', { n: 1 });
const MISSPELLED = track('A', { nn: 1 });

/** Starts `hooks listen --plan`, posts bodies to it, and returns its output without the first line. */
async function outputFor(posts: readonly (readonly [path: string, body: object])[], ...flags: string[]) {
  const cwd = temporaryFolder({ 'plan.json': PLAN });
  const running = startHooks(['listen', '--port', '0', '--plan', 'plan.json', ...flags], { cwd });
  const { origin } = new URL(await nextUrl(running));
  for (const [path, body] of posts) {
    const { status } = await fetch(origin + path, { method: 'POST', body: JSON.stringify(body) });
    expect(status).toBe(200);
  }
  const { code, stdout, stderr } = await running.stop();
  return { code, stderr, stdout: stdout.split('\n').slice(1).join('\n') };
}

describe('hooks listen --plan', () => {
  it('shows what a message violates below its request, and counts at the end', async () => {
    const { code, stdout, stderr } = await outputFor([
      ['/hook', GOOD],
      ['/hook', MISSPELLED],
      ['/v1/batch', { batch: [GOOD, track('B\u001b[2J\u009b', {})] }],
    ]);
    expect(code).toBe(0);
    const violation = 'Violates the plan at `properties.nn`: expected nothing (is "n" meant?), got 1';
    expect(stdout).toMatch(/\/hook +track "A" by u1 .*\n.*\/hook +track "A" by u1 .*\n {4}✗ Violates/);
    expect(stdout).toContain(`\n    ✗ ${violation}\n`);
    expect(stdout).toMatch(
      /\n {4}1\. track "A" by u1\n {4}2\. track "B.*" by u1\n {7}✗ Violates the plan at `event`: expected an event/,
    );
    expect(stdout.match(/✗/g)).toHaveLength(2);
    // The control characters of an event, but for line feeds.
    expect(stdout.replaceAll('\n', '')).not.toMatch(/\p{Cc}/u);
    expect(stderr).toContain('; 2 messages violate the plan');
  });

  it('lists the violations of each message as JSON', async () => {
    const { stdout } = await outputFor([['/v1/batch', { batch: [GOOD, MISSPELLED] }]], '-o', 'json');
    const violation = {
      pointer: '/properties/nn',
      kind: 'unplanned-property',
      expected: 'nothing (is "n" meant?)',
      got: 1,
    };
    expect(jsonLines(stdout)[0]).toMatchObject({
      messages: [
        { index: 0, violations: [] },
        { index: 1, violations: [violation] },
      ],
    });
  });

  it('counts violations in requests that --filter hides', async () => {
    const { stdout, stderr } = await outputFor([['/hook', MISSPELLED]], '--filter', 'event=B');
    expect(stdout).toBe('');
    expect(stderr).toContain('; 1 hidden by the filter; 1 message violates the plan');
  });

  it('starts only with a plan that it can use', async () => {
    const cwd = temporaryFolder({ 'plan.json': '{"rules":[{"key":"A","type":"TRACKS"}]}' });
    const { code, stdout, stderr } = await hooks(['listen', '--port', '0', '--plan', 'plan.json'], { cwd });
    expect([code, stdout]).toEqual([2, '']);
    expect(stderr).toContain('plan.json');
  });
});
