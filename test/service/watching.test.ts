import { createServer } from 'node:http';
import { describe, expect, it, onTestFinished } from 'vitest';
import { QueueError } from '../../src/errors.ts';
import { listening } from '../answers/counterparts.ts';
import {
  closeAfterEach,
  serving,
  SECRET,
  sourcesTo,
  track,
  until,
  WRITE_KEY,
  type Serving,
} from './serving.ts';

closeAfterEach();

async function get({ url }: Serving, path: string): Promise<{ status: number; text: string }> {
  const response = await fetch(`${url}${path}`);
  return { status: response.status, text: await response.text() };
}

describe('/metrics', () => {
  it('counts requests, messages, attempts and dead letters, and times deliveries', async () => {
    const serve = await serving({ respond: '200,400' });
    await serve.post('/v1/batch', { batch: [track('u1', { messageId: 'm1' }), {}] });
    await until(() => serve.received.length === 1, 'the first delivery');
    await serve.post('/v1/track', track('u1', { messageId: 'm1' }));
    await serve.post('/v1/track', track('u2'));
    await until(() => serve.log.some(({ msg }) => msg === 'a delivery was given up'), 'the dead letter');
    const { status, text } = await get(serve, '/metrics');
    expect(status).toBe(200);
    for (const line of [
      'hooks_requests_total{route="/v1/track",status="200"} 2',
      'hooks_ingest_messages_total{source="web",outcome="accepted"} 2',
      'hooks_ingest_messages_total{source="web",outcome="duplicate"} 1',
      'hooks_ingest_messages_total{source="web",outcome="rejected"} 1',
      'hooks_attempts_total{source="web",destination="Webhooks",result="delivered"} 1',
      'hooks_attempts_total{source="web",destination="Webhooks",result="rejected"} 1',
      'hooks_dead_letters_total{source="web",destination="Webhooks",reason="rejected"} 1',
      'hooks_dead_letters_total{source="web",destination="",reason="invalid"} 1',
      'hooks_delivery_seconds_count{source="web",destination="Webhooks"} 1',
    ]) {
      expect(text).toContain(`${line}\n`);
    }
  });

  it('counts single messages that are rejected for any reason', async () => {
    const serve = await serving();
    const statuses: number[] = [];
    for (const body of [
      { userId: 'u1' },
      track('u1', { text: 'x'.repeat(40_000) }),
      `{"n":12345678901234567890}`,
      ' '.repeat(600_000),
    ]) {
      statuses.push((await serve.post('/v1/track', body)).status);
    }
    statuses.push((await serve.post('/v1/track', { writeKey: WRITE_KEY }, {})).status);
    statuses.push((await serve.post('/v1/track', { writeKey: 'wrong' }, {})).status);
    expect(statuses).toEqual([400, 413, 400, 413, 400, 401]);
    const { text } = await get(serve, '/metrics');
    const counted = text.split('\n').filter((line) => line.startsWith('hooks_ingest_messages_total{'));
    expect(counted).toEqual(['hooks_ingest_messages_total{source="web",outcome="rejected"} 5']);
  });

  it('exports the dead letter counters as 0 at the start', async () => {
    const { text } = await get(await serving(), '/metrics');
    for (const reason of ['rejected', 'exhausted', 'cancelled', 'damaged']) {
      const labels = `source="web",destination="Webhooks",reason="${reason}"`;
      expect(text).toContain(`hooks_dead_letters_total{${labels}} 0\n`);
    }
    expect(text).toContain('hooks_dead_letters_total{source="web",destination="",reason="invalid"} 0\n');
  });

  it('omits webhooks and attempts in a process that does not deliver', async () => {
    const serve = await serving({ deliver: false });
    await serve.post('/v1/batch', { batch: [track('u1'), {}] });
    const { text } = await get(serve, '/metrics');
    expect(text).not.toMatch(/hooks_webhook_up|hooks_attempt|hooks_delivery_seconds/);
    const counted = text
      .split('\n')
      .filter((line) => line.startsWith('hooks_dead_letters_total{source="web"'));
    expect(counted).toEqual([
      'hooks_dead_letters_total{source="web",destination="",reason="invalid"} 1',
      'hooks_dead_letters_total{source="web",destination="",reason="unplanned"} 0',
    ]);
    expect(text).toContain('hooks_queue_deliveries{source="web",destination="Webhooks",state="pending"} 1\n');
  });

  it('responds although the store does not', async () => {
    const serve = await serving({
      change: (open) => ({
        ...open,
        lanes: () => Promise.reject(new QueueError('gone')),
        oldestAt: () => Promise.reject(new QueueError('gone')),
      }),
    });
    const { status, text } = await get(serve, '/metrics');
    expect(status).toBe(200);
    expect(text).not.toContain('hooks_queue_deliveries{');
    expect(text).not.toMatch(/^hooks_queue_oldest_seconds/m);
    expect(text).toContain('hooks_build_info{');
  });

  it('has gauges for the queue of each destination, its age and the state of its webhooks', async () => {
    const serve = await serving({ respond: '503x3,delay=300ms,200' });
    for (const user of ['u1', 'u2', 'u3']) await serve.post('/v1/track', track(user));
    await until(() => serve.log.some(({ msg }) => msg === 'a webhook is down'), 'the line of the outage');
    const down = (await get(serve, '/metrics')).text;
    const lane = 'source="web",destination="Webhooks"';
    expect(down).toContain(`hooks_queue_deliveries{${lane},state="pending"} 0\n`);
    expect(down).toMatch(new RegExp(`hooks_queue_deliveries\\{${lane},state="(retrying|sending)"\\} [1-3]`));
    expect(down).toMatch(/^hooks_queue_oldest_seconds 0\.\d+$/m);
    expect(down).toMatch(new RegExp(`^hooks_webhook_up\\{${lane},url="http://127[^"]+"\\} 0$`, 'm'));
    expect(down).toMatch(/^hooks_build_info\{version="\d[^"]*",node="\d[^"]*"\} 1$/m);
    expect(down).toMatch(/^process_cpu_seconds_total /m);
    await until(() => serve.log.some(({ msg }) => msg === 'a webhook is back'), 'the line of its return');
    const up = (await get(serve, '/metrics')).text;
    expect(up).toMatch(new RegExp(`^hooks_webhook_up\\{${lane},url="http://127[^"]+"\\} 1$`, 'm'));
  });

  it('moves to a separate port with metricsAt', async () => {
    const serve = await serving({ metricsAt: { host: '127.0.0.1', port: 0 } });
    expect((await get(serve, '/metrics')).status).toBe(404);
    const { metrics } = serve.log.find(({ msg }) => msg === 'listening') ?? {};
    const response = await fetch(`${String(metrics)}/metrics`);
    expect([response.status, await response.text()]).toEqual([
      200,
      expect.stringContaining('hooks_build_info'),
    ]);
    expect((await fetch(`${String(metrics)}/v1/track`, { method: 'POST' })).status).toBe(404);
    await serve.close();
    await expect(fetch(`${String(metrics)}/metrics`)).rejects.toThrow('fetch failed');
  });
});

describe('the log of an outage', () => {
  it('is one line when a webhook goes down and one when it is back; attempts are at debug', async () => {
    const serve = await serving({ respond: '503x9,200' });
    for (let user = 1; user <= 9; user++) await serve.post('/v1/track', track(`u${user}`));
    await until(() => serve.log.some(({ msg }) => msg === 'a webhook is back'), 'the line of its return');
    const lines = serve.log.filter(({ level }) => level === 'warn' || level === 'info');
    const told = lines.filter(({ msg }) => /webhook|attempt/.test(String(msg)));
    expect(told).toMatchObject([
      {
        level: 'warn',
        msg: 'a webhook is down',
        source: 'web',
        destination: 'Webhooks',
        since: expect.stringMatching(/^\d{4}-.*Z$/),
        waiting: expect.any(Number),
        status: 503,
        error: 'http-5xx',
      },
      { level: 'info', msg: 'a webhook is back', waiting: expect.any(Number) },
    ]);
    expect(serve.log.filter(({ msg }) => msg === 'an attempt failed')).toHaveLength(9);
  });
});

it('the log warns about unsigned requests at the start', async () => {
  const sources = sourcesTo('https://receiver.invalid/');
  const { writeKey, destinations } = sources['web'] ?? {};
  const [destination] = Object.values(destinations ?? {});
  if (destination === undefined) throw new Error('no destination');
  const unsigned = { writeKey, destinations: { Open: { ...destination, sharedSecrets: [] } } };
  const serve = await serving({ sources: { ...sources, web: unsigned } });
  expect(serve.log.filter(({ msg }) => /unsigned/.test(String(msg)))).toMatchObject([
    { level: 'warn', source: 'web', destination: 'Open' },
  ]);
});

describe('the log of a dead letter', () => {
  it('contains the result of the last attempt, and the last line says that the service stopped', async () => {
    const serve = await serving({ respond: '400x9' });
    for (let user = 1; user <= 7; user++) await serve.post('/v1/track', track(`u${user}`));
    await until(() => serve.received.length === 7, 'the attempts');
    await serve.close();
    expect(serve.log.find(({ msg }) => msg === 'a delivery was given up')).toMatchObject({
      reason: 'rejected',
      url: expect.stringMatching(/^http:/),
      status: 400,
      error: 'http-4xx',
    });
    expect(serve.log.slice(-2)).toMatchObject([
      { msg: 'more deliveries were given up', more: 2 },
      { msg: 'stopped' },
    ]);
  });
});

it('logs five rejections of the same kind in a minute, and counts the others at the end', async () => {
  const serve = await serving();
  for (let call = 0; call < 7; call++) {
    expect((await serve.post('/v1/track', { userId: 'u1' })).status).toBe(400);
    expect((await serve.post('/v1/batch', { batch: [{}] })).status).toBe(200);
  }
  expect((await serve.post('/v1/track', '{')).status).toBe(400);
  await serve.close();
  const lines = (msg: string): unknown[] => serve.log.filter((line) => line['msg'] === msg);
  const group = { source: 'web', code: 'invalid', more: 2 };
  expect(lines('rejected')).toHaveLength(6);
  expect(lines('messages of a batch were rejected')).toHaveLength(5);
  expect(lines('more calls were rejected')).toEqual([
    expect.objectContaining({ ...group, route: '/v1/track', status: 400 }),
    expect.objectContaining({ ...group, status: 200 }),
  ]);
});

describe('/healthz and /readyz', () => {
  it('report that the service lives and whether it can store', async () => {
    let [isBroken, isBusy] = [false, false];
    const serve = await serving({
      change: (open) => ({
        ...open,
        check: async () => {
          if (isBroken || isBusy) throw new QueueError('gone', { isBusy });
        },
      }),
    });
    expect((await get(serve, '/readyz')).status).toBe(200);
    isBusy = true;
    expect((await get(serve, '/readyz')).status).toBe(200);
    [isBroken, isBusy] = [true, false];
    expect((await get(serve, '/readyz')).status).toBe(503);
    expect((await get(serve, '/healthz')).status).toBe(200);
  });
});

describe('other requests', () => {
  it('get 404 for an unknown path, 405 for another method and 204 for a preflight', async () => {
    const serve = await serving();
    expect((await get(serve, '/v1/nothing')).status).toBe(404);
    expect((await get(serve, '/v1/batch')).status).toBe(405);
    const preflight = await fetch(`${serve.url}/v1/t`, { method: 'OPTIONS' });
    expect([preflight.status, preflight.headers.get('access-control-allow-origin')]).toEqual([204, '*']);
  });

  it('of the browser library of RudderStack get its settings and CORS headers', async () => {
    const serve = await serving();
    const asked = 'anonymousid,authorization,content-type,rsa-since-last-attempt,sentat';
    const ask = { method: 'OPTIONS', headers: { 'access-control-request-headers': asked } };
    for (const path of ['/v1/track', '/v1/batch', '/sourceConfig/?p=npm', '/sourceConfig']) {
      const { status, headers } = await fetch(serve.url + path, ask);
      const allowed = headers.get('access-control-allow-headers');
      expect([status, allowed]).toEqual([204, asked.replaceAll(',', ', ')]);
      expect(headers.has('access-control-allow-credentials')).toBe(false);
    }
    const settings = await fetch(`${serve.url}/sourceConfig/?p=npm&writeKey=k`);
    expect([settings.status, settings.headers.get('access-control-allow-origin')]).toEqual([200, '*']);
    expect(await settings.json()).toMatchObject({ source: { enabled: true, config: {}, destinations: [] } });
    for (const path of ['/v1/deletions', '/healthz', '/metrics', '/_hooks']) {
      const { status, headers } = await fetch(serve.url + path, ask);
      const names = [...headers.keys()].filter((name) => name.startsWith('access'));
      expect([status, names]).toEqual([404, []]);
    }
  });
});

describe('secrets', () => {
  it('are absent from logs, responses and stored attempts even if the receiver repeats them', async () => {
    const canaries = [WRITE_KEY, SECRET, 'canary-of-the-header', 'canary-of-the-key', 'canary-of-the-query'];
    const url = await echoing(SECRET);
    const attempts: unknown[] = [];
    const serve = await serving({
      sources: sourcesTo(url, {
        Authorization: 'Bearer canary-of-the-header',
        'X-Api-Key': 'canary-of-the-key',
      }),
      change: (open) => {
        const { queue } = open;
        const settle = queue.settle.bind(queue);
        queue.settle = (claim, settlement) => {
          attempts.push(settlement);
          return settle(claim, settlement);
        };
        return open;
      },
    });
    const texts: string[] = [];
    const ask = async (path: string, body: unknown, headers?: Record<string, string>): Promise<void> => {
      texts.push(JSON.stringify((await serve.post(path, body, headers)).body));
    };
    await ask(
      '/v1/batch',
      { batch: [track('u1'), { type: WRITE_KEY, userId: WRITE_KEY }], writeKey: WRITE_KEY },
      {},
    );
    await ask('/v1/batch', `{"writeKey":"${WRITE_KEY}"`, {});
    await ask('/v1/track', { writeKey: 'wrong-canary' }, {});
    await ask('/v1/deletions', { userIds: [], writeKey: WRITE_KEY });
    await until(() => attempts.length > 0, 'an attempt');
    await serve.close();
    const logged = JSON.stringify(serve.log);
    expect(logged).toContain('an attempt failed');
    const kept = JSON.stringify(attempts);
    expect(kept).toContain('***');
    for (const canary of canaries) {
      for (const text of [logged, kept, ...texts.slice(1)]) expect(text).not.toContain(canary);
    }
    expect(texts.join('')).not.toContain('wrong-canary');
  });
});

/** Starts a receiver that responds with the shared secret and the request. Returns its URL, which contains another secret. */
async function echoing(secret: string): Promise<string> {
  const receiver = createServer((request, response) => {
    request.resume();
    response.writeHead(503).end(`${secret} ${request.url} ${JSON.stringify(request.headers)}`);
  });
  const { port, close } = await listening(receiver);
  onTestFinished(close);
  return `http://127.0.0.1:${port}/hook?token=canary-of-the-query`;
}
