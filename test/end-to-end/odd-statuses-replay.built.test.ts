import { join } from 'node:path';
import { expect, it } from 'vitest';
import { hooks } from '../cli/run-in-process.ts';
import { answersOk } from '../hostile-receivers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { started } from '../transport/sending.ts';
import { replayed, type ResultLine } from './delivering.ts';
import {
  answersAsAsked,
  configOf,
  expectOnTime,
  expectRightResults,
  statusOf,
  TIMEOUT,
  tracks,
  type DestinationLine,
} from './odd-statuses.ts';

it('hooks replay handles every status, without a delay for another destination', async () => {
  const [odd, beside] = [await started(answersAsAsked()), await started(answersOk())];
  const config = configOf({ Odd: { webhooks: [odd.url] }, Beside: { webhooks: [beside.url] } });
  const all = tracks().map((each) => `${JSON.stringify(each)}\n`);
  const file = join(temporaryFolder({ 'all.ndjson': all.join('') }), 'all.ndjson');
  const flags = ['--retry-for', '0', '--timeout', TIMEOUT, '--config', config, '-o', 'json', '-v'];
  const { code, lines } = replayed(
    await hooks(['replay', file, ...flags], { env: { HOOKS_DATA_DIR: temporaryFolder() } }),
  );
  expect(code).toBe(1);
  const results = lines as readonly (ResultLine & {
    readonly body: string;
    readonly destinations: Record<'Odd' | 'Beside', DestinationLine>;
  })[];
  expectOnTime(
    results.map(({ destinations }) => destinations.Beside),
    1_000,
  );
  expectRightResults(
    new Map(results.map(({ body, destinations }) => [statusOf(body), destinations.Odd.attempts[0]])),
  );
});
