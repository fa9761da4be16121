import { join } from 'node:path';
import { expect, it } from 'vitest';
import { answersOk, receiver, type HostileReceiver } from '../hostile-receivers.ts';
import { temporaryFolder } from '../temporary-folder.ts';
import { started } from '../transport/sending.ts';
import { until } from '../until.ts';
import { replayed, type AttemptLine, type ResultLine } from './delivering.ts';
import { hooks } from './hooks.ts';
import { startReady } from './serve-and-worker.ts';

/** Every status that three digits can say. */
const STATUSES = Array.from({ length: 1_000 }, (_, status) => String(status).padStart(3, '0'));
/** Of an attempt. One that waits in vain takes `TIMEOUT`, which no busy machine comes near. */
const MAX_MS = 15_000;
const TIMEOUT = '30s';
const WRITE_KEY = 'k';

interface DestinationLine {
  readonly outcome: string;
  readonly attempts: readonly AttemptLine[];
}

it('hooks send survives a response of each status, and what goes to a destination beside is not late', async () => {
  const [odd, beside] = [await started(answersAsAsked()), await started(answersOk())];
  const config = configOf({ Beside: { webhooks: [beside.url] }, ...oddDestinations(odd.url) });
  const command = [
    'send',
    'track',
    '--event',
    'Signup',
    '--user-id',
    'u',
    '--retry-for',
    '0',
    '--timeout',
    TIMEOUT,
  ];
  const { code, stdout } = await hooks([...command, '--config', config, '-o', 'json']);
  expect(code).toBe(1);
  const line = JSON.parse(stdout) as ResultLine & { destinations: Record<string, DestinationLine> };
  const { Beside, ...others } = line.destinations;
  expectOnTime(Beside === undefined ? [] : [Beside], 1);
  const attempts = Object.values(others).flatMap((each) => each.attempts);
  expectRightResults(new Map(attempts.map((attempt) => [attempt.url.slice(-3), attempt])));
});

it('hooks replay survives a response of each status, and what goes to a destination beside is not late', async () => {
  const [odd, beside] = [await started(answersAsAsked()), await started(answersOk())];
  const config = configOf({ Odd: { webhooks: [odd.url] }, Beside: { webhooks: [beside.url] } });
  const file = join(
    temporaryFolder({
      'all.ndjson': tracks()
        .map((each) => `${JSON.stringify(each)}\n`)
        .join(''),
    }),
    'all.ndjson',
  );
  const flags = ['--retry-for', '0', '--timeout', TIMEOUT, '--config', config, '-o', 'json', '-v'];
  const { code, lines } = replayed(await hooks(['replay', file, ...flags]));
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

it('hooks serve survives a response of each status, and what goes to a destination beside is not late', async () => {
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
    const flags = ['--state', state, '-o', 'json'];
    const { stdout } = await hooks(['queue', 'list', ...flags], { env });
    return stdout.split('\n').flatMap((line) => (line === '' ? [] : [JSON.parse(line) as ListedDelivery]));
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

/** Five webhooks each, of which at most the last one takes the message, so that all are asked. */
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

/** The status stands at the end of the path or is the event's name. An interim one is followed by 204. */
function answersAsAsked(): Promise<HostileReceiver> {
  return receiver((socket, { head, body }) => {
    const status = /\/(\d{3}) HTTP/.exec(head[0] ?? '')?.[1] ?? statusOf(body.toString());
    const final = status > '101' && status < '200' ? 'HTTP/1.1 204 Done\r\n\r\n' : '';
    socket.write(`HTTP/1.1 ${status} X\r\n${final === '' ? 'Content-Length: 0\r\n' : ''}\r\n${final}`);
  });
}

function statusOf(body: string): string {
  return (JSON.parse(body) as { event: string }).event;
}

/** One for each status; their users differ, so that they are not sent one after another. */
function tracks(): { readonly messageId: string }[] {
  return STATUSES.map((status) => ({
    type: 'track',
    event: status,
    userId: `u${status}`,
    messageId: status,
    timestamp: '2026-11-20T21:10:05.123Z',
  }));
}

function configOf(destinations: object): string {
  const config = { sources: { default: { writeKey: WRITE_KEY, destinations } } };
  return join(temporaryFolder({ 'hooks.json': JSON.stringify(config) }), 'hooks.json');
}

function expectOnTime(results: readonly DestinationLine[], count: number): void {
  expect(results).toHaveLength(count);
  expect(results.filter(({ outcome }) => outcome !== 'delivered')).toEqual([]);
  expect(results.flatMap(({ attempts }) => attempts).filter(({ ms }) => ms > MAX_MS)).toEqual([]);
}

function expectRightResults(attempts: ReadonlyMap<string, AttemptLine | undefined>): void {
  expect(attempts.size).toBe(1_000);
  const wrong = [...attempts].filter(([status, attempt]) => {
    const [error, got] = expectedOf(status);
    return attempt === undefined || attempt.error !== error || attempt.status !== got || attempt.ms > MAX_MS;
  });
  expect(wrong).toEqual([]);
}

/** The error and the status that an attempt tells of. */
function expectedOf(status: string): [error: string | undefined, status: number | undefined] {
  if (status <= '101') return ['protocol', undefined];
  if (status < '200') return [undefined, 204];
  const errors: Record<string, string | undefined> = {
    2: undefined,
    3: 'redirect',
    4: 'http-4xx',
    5: 'http-5xx',
  };
  const digit = status.charAt(0);
  return [digit in errors ? errors[digit] : 'protocol', Number(status)];
}
