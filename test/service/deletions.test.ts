import { describe, expect, it } from 'vitest';
import { QueueError } from '../../src/errors.ts';
import { basic, closeAfterEach, serving, sorted, until, WRITE_KEY, type Serving } from './serving.ts';

closeAfterEach();

async function look({ url }: Serving, id: unknown, headers = basic(WRITE_KEY)): Promise<Response> {
  return fetch(`${url}/v1/deletions/${String(id)}`, { headers });
}

describe('POST /v1/deletions', () => {
  it('goes to the source of its key only when that is wanted, and keeps the state', async () => {
    const serve = await serving({ confineDeletions: true });
    const { status, body } = await serve.post('/v1/deletions', { userIds: ['u1', 'u2'] });
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, users: 2, sources: { web: { state: 'pending' } } });
    await until(() => serve.log.filter(({ msg }) => msg === 'delivered').length === 2, 'all to be recorded');
    expect(sorted(serve.received, 'userId')).toEqual(['u1', 'u2']);
    const found = (await (await look(serve, body['id'])).json()) as { sources: object };
    expect(found.sources).toEqual({ web: { state: 'delivered', deliveries: 2, delivered: 2, failed: 0 } });
    expect((await look(serve, body['id'], basic('wk-of-the-other'))).status).toBe(404);
  });

  it('goes to every source when it names none', async () => {
    const serve = await serving();
    const { status, body } = await serve.post('/v1/deletions', { userIds: ['u1', 'u2'] });
    expect(status).toBe(200);
    expect(body).toMatchObject({ success: true, users: 2, sources: { app: { state: 'no-destination' } } });
    await until(() => serve.received.length === 4, 'two users at two sources');
    expect(sorted(serve.received, 'type')).toEqual(['delete', 'delete', 'delete', 'delete']);
    expect(sorted(serve.received, 'userId')).toEqual(['u1', 'u1', 'u2', 'u2']);
    await until(() => serve.log.filter(({ msg }) => msg === 'delivered').length === 4, 'all to be recorded');
    const found = (await (await look(serve, body['id'])).json()) as object;
    expect(found).toMatchObject({
      id: body['id'],
      sources: { web: { state: 'delivered', deliveries: 2, delivered: 2 }, other: { state: 'delivered' } },
    });
  });

  it('is refused, confined, for the source of another key, known or not', async () => {
    const serve = await serving({ confineDeletions: true });
    for (const sources of [['other'], ['web', 'other'], ['nowhere']]) {
      const { status, body } = await serve.post('/v1/deletions', { userIds: ['u1'], sources });
      expect([status, body['code']]).toEqual([403, 'forbidden']);
    }
    expect(serve.added).toEqual([]);
    expect((await serve.post('/v1/deletions', { userIds: ['u1'], sources: ['web'] })).status).toBe(200);
  });

  it('goes to the named sources only', async () => {
    const serve = await serving({ deliver: false });
    await serve.post('/v1/deletions', { userIds: ['u1'], sources: ['other'], writeKey: WRITE_KEY }, {});
    expect(serve.added.map(({ source, destination }) => [source, destination])).toEqual([
      ['other', 'Elsewhere'],
    ]);
  });

  it('becomes at most 10,000 deliveries, of all the sources that it reaches', async () => {
    const serve = await serving({ deliver: false });
    const userIds = Array.from({ length: 5_001 }, (_, index) => `u${index}`);
    const { status, body } = await serve.post('/v1/deletions', { userIds });
    expect([status, body]).toEqual([
      413,
      {
        success: false,
        code: 'too-large',
        message: 'expected user ids times destinations to be at most 10,000, got 10,002',
        hint: 'send the user ids in several requests',
      },
    ]);
    expect(serve.added).toEqual([]);
    expect((await serve.post('/v1/deletions', { userIds, sources: ['web', 'app'] })).status).toBe(200);
    expect((await serve.post('/v1/deletions', { userIds: userIds.slice(1) })).status).toBe(200);
    expect(serve.added).toHaveLength(5_001 + 10_000);
  });

  it('is refused without a key, malformed, or for a source that is not there', async () => {
    const serve = await serving();
    const statusOf = async (body: unknown, headers?: Record<string, string>): Promise<number> =>
      (await serve.post('/v1/deletions', body, headers)).status;
    expect(await statusOf({ userIds: ['u'] }, {})).toBe(401);
    expect(await statusOf({ userIds: ['u'] }, basic('wrong'))).toBe(401);
    expect(await statusOf('{"userIds":')).toBe(400);
    expect(await statusOf({ userIds: [] })).toBe(400);
    expect(await statusOf({ userIds: ['u'], source: 'web' })).toBe(400);
    expect(await statusOf({ userIds: ['u'], sources: ['nowhere'] })).toBe(400);
    expect(serve.added).toEqual([]);
    expect((await look(serve, 'nothing')).status).toBe(404);
    expect((await look(serve, 'nothing', {})).status).toBe(401);
  });

  it('is 503 when it cannot be stored', async () => {
    const serve = await serving({ add: () => Promise.reject(new QueueError('the disk is full')) });
    expect((await serve.post('/v1/deletions', { userIds: ['u'] })).status).toBe(503);
  });
});
