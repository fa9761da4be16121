import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, it } from 'vitest';
import { argv } from '../../../end-to-end/argv.ts';
import { jsonLines, receiving, summaryOf } from '../../../end-to-end/receiving.ts';
import { temporaryFolder } from '../../../temporary-folder.ts';
import { hooks } from '../../run-in-process.ts';

const properties = { type: 'object', properties: { n: { type: 'number' } }, required: ['n'] };
const jsonSchema = { type: 'object', properties: { properties }, required: ['properties'] };
const PLAN = JSON.stringify({ rules: [{ key: 'A', type: 'TRACK', version: 1, jsonSchema }] });

const line = (event: string, values: object): string =>
  JSON.stringify({ type: 'track', event, userId: 'u1', properties: values, writeKey: 's3cret-key' });
const GOOD = line('A', { n: 1 });
const MISSPELLED = line('A', { m: 1 });
const FOREIGN = line('B\u001b[2J\u009b', {});

function folderWith(...lines: readonly string[]): string {
  return temporaryFolder({ 'plan.json': PLAN, 'day.ndjson': `${lines.join('\n')}\n` });
}

describe('hooks replay --plan', () => {
  it('sends only messages that follow the plan, and reports the others as invalid', async () => {
    const to = await receiving();
    const cwd = folderWith(GOOD, MISSPELLED, FOREIGN, '{"type":"track"}', GOOD);
    const files = argv`--failed failed.ndjson --report report.xml`;
    const args = argv`replay day.ndjson --plan plan.json --url ${to.url} -o json ${files}`;
    const { code, stdout } = await hooks(args, { cwd });
    expect(code).toBe(1);
    expect(to.field('properties')).toEqual([{ n: 1 }, { n: 1 }]);
    expect(summaryOf(stdout)).toMatchObject({ read: 5, delivered: 2, invalid: 3 });
    expect(jsonLines(stdout).filter(({ outcome }) => outcome === 'invalid')).toMatchObject([
      {
        error: 'unplanned',
        path: 'properties.n',
        origin: 'day.ndjson:2',
        reason: 'Violates the plan at `properties.n`: expected something, got nothing; 1 more violation',
      },
      { error: 'unplanned', path: 'event', origin: 'day.ndjson:3' },
      { error: 'invalid', path: 'event', origin: 'day.ndjson:4' },
    ]);
    const failed = readFileSync(join(cwd, 'failed.ndjson'), 'utf8');
    expect(failed).toBe(`${[MISSPELLED, FOREIGN, '{"type":"track"}'].join('\n')}\n`);
    const report = readFileSync(join(cwd, 'report.xml'), 'utf8');
    expect(report.match(/type="unplanned"/g)).toHaveLength(2);
  });

  it('names the violation for a person, without control characters of the message', async () => {
    const { stdout, stderr } = await hooks(argv`replay day.ndjson --plan plan.json --loopback`, {
      cwd: folderWith(MISSPELLED, FOREIGN),
    });
    expect(stdout).toContain('day.ndjson:2: violates the plan at `event`: expected an event with a schema');
    expect(stdout).toContain('hooks plan lint lists all violations');
    // eslint-disable-next-line no-control-regex -- these are the characters that must not appear
    expect(stdout + stderr).not.toMatch(/[\u001b\u009b]/);
  });

  it('checks only the messages that --filter selects', async () => {
    const to = await receiving();
    const cwd = folderWith(GOOD, FOREIGN);
    const args = argv`replay day.ndjson --plan plan.json --filter event=A --url ${to.url} -o json`;
    const { code, stdout } = await hooks(args, { cwd });
    expect(code).toBe(0);
    expect(summaryOf(stdout)).toMatchObject({ read: 1, delivered: 1, skipped: 1 });
  });

  it('reports the violations again when it is resumed', async () => {
    const to = await receiving();
    const cwd = folderWith(MISSPELLED, GOOD);
    const env = { HOOKS_DATA_DIR: cwd };
    const args = argv`replay day.ndjson --plan plan.json --url ${to.url} -o json`;
    await hooks([...args, '--fail-fast'], { cwd, env });
    const { code, stdout } = await hooks([...args, '--resume'], { cwd, env });
    expect(code).toBe(1);
    expect(jsonLines(stdout)[0]).toMatchObject({ error: 'unplanned', origin: 'day.ndjson:1' });
    expect(to.requests).toHaveLength(1);
  });

  it('rejects a plan that it cannot read, and --exact, before it sends a message', async () => {
    const to = await receiving();
    const cwd = folderWith(GOOD);
    const missing = await hooks(argv`replay day.ndjson --plan none.json --url ${to.url}`, { cwd });
    expect(missing).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('none.json: cannot be read') as string,
    });
    const exact = await hooks(argv`replay day.ndjson --plan plan.json --exact --url ${to.url}`, { cwd });
    expect(exact).toMatchObject({
      code: 2,
      stderr: expect.stringContaining('`--exact` and `--plan` cannot be given together') as string,
    });
    expect(to.requests).toEqual([]);
  });
});
