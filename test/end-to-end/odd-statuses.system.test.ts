// Takes minutes: five thousand deliveries by two verbs. npm test runs odd-statuses-replay.built.test.ts, the same for replay.
import { expect, it } from 'vitest';
import { argv } from './argv.ts';
import { answersOk } from '../hostile-receivers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { started } from '../transport/sending.ts';
import { until } from '../until.ts';
import type { AttemptLine, ResultLine } from './delivering.ts';
import { hooks } from './hooks.ts';
import {
  answersAsAsked,
  configOf,
  expectedOf,
  expectOnTime,
  expectRightResults,
  STATUSES,
  TIMEOUT,
  tracks,
  WRITE_KEY,
  type DestinationLine,
} from './odd-statuses.ts';
import { jsonLines } from './receiving.ts';
import { startReady } from './serve-and-worker.ts';

it('hooks send handles every status, without a delay for another destination', async () => {
  const [odd, beside] = [await started(answersAsAsked()), await started(answersOk())];
  const config = configOf({ Beside: { webhooks: [beside.url] }, ...oddDestinations(odd.url) });
  const { code, stdout } = await hooks(
    argv`send track --event Signup --user-id u --retry-for 0 --timeout ${TIMEOUT} --config ${config} -o json`,
  );
  expect(code).toBe(1);
  const line = JSON.parse(stdout) as ResultLine & { destinations: Record<string, DestinationLine> };
  const { Beside, ...others } = line.destinations;
  expectOnTime(Beside === undefined ? [] : [Beside], 1);
  const attempts = Object.values(others).flatMap((each) => each.attempts);
  expectRightResults(new Map(attempts.map((attempt) => [attempt.url.slice(-3), attempt])));
});

it('hooks serve handles every status, without a delay for another destination', async () => {
  const [odd, beside] = [await started(answersAsAsked()), await started(answersOk())];
  const config = configOf({
    Odd: { webhooks: [odd.url], delivery: { retryFor: '0', timeout: TIMEOUT } },
    Beside: { webhooks: [beside.url], delivery: { timeout: TIMEOUT } },
  });
  const env = { HOOKS_CONFIG: config, HOOKS_DATA_DIR: temporaryFolder() };
  const serve = await startReady('serve', env);
  for (let at = 0; at < 1_000; at += 100) {
    const response = await fetch(`${serve.url}/v1/batch`, {
      method: 'POST',
      body: JSON.stringify({ writeKey: WRITE_KEY, batch: tracks().slice(at, at + 100) }),
    });
    expect(response.status).toBe(200);
  }
  const settled = async (state: string): Promise<ListedDelivery[]> => {
    const { stdout } = await hooks(argv`queue list --state ${state} -o json`, { env });
    return jsonLines<ListedDelivery>(stdout);
  };
  await until(async () => beside.requests.length >= 1_000 && odd.requests.length >= 1_000, 'all of them', {
    seconds: 50,
  });
  expect(await serve.stop('SIGTERM')).toMatchObject({ code: 0, stderr: '' });
  const all = [...(await settled('delivered')), ...(await settled('dead'))];
  const [to, other] = ['Odd', 'Beside'].map((name) => all.filter(({ destination }) => destination === name));
  expectOnTime(
    (other ?? []).map(({ state, lastAttempt }) => ({ outcome: state, attempts: [lastAttempt] })),
    1_000,
  );
  expectRightResults(new Map((to ?? []).map(({ messageId, lastAttempt }) => [messageId, lastAttempt])));
});

/** Returns destinations of five webhooks each. At most the last accepts the message, so that all are asked. */
function oddDestinations(url: string): object {
  const webhooks = STATUSES.map((status) => `${url}/${status}`);
  const [taking, others] = [webhooks.filter(isTaken), webhooks.filter((webhook) => !isTaken(webhook))];
  const destinations = [];
  for (let at = 0; at < 200; at++) {
    const last = taking.pop() ?? others.pop() ?? '';
    destinations.push([`Odd ${at}`, { webhooks: [...others.splice(0, 4), last] }]);
  }
  return Object.fromEntries(destinations) as object;
}

function isTaken(webhook: string): boolean {
  return expectedOf(webhook.slice(-3))[0] === undefined;
}

interface ListedDelivery {
  readonly messageId: string;
  readonly destination: string;
  readonly state: string;
  readonly lastAttempt: AttemptLine;
}
