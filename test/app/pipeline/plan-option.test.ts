import { join } from 'node:path';
import { expect, it } from 'vitest';
import { createDeliveryPipeline } from '../../../src/app/pipeline/delivery-pipeline.ts';
import type { PlanOption } from '../../../src/app/pipeline/plan-option.ts';
import { createTrackingApiPipeline } from '../../../src/app/pipeline/tracking-api-pipeline.ts';
import { loadPlan } from '../../../src/app/load-plan.ts';
import { ValidationError } from '../../../src/errors.ts';
import { answer } from '../../engine/harness.ts';
import { temporaryFolder } from '../../temporary-folder.ts';
import { A, fakeTransport } from '../set-up.ts';

const jsonSchema = { properties: { properties: { properties: { n: { type: 'integer' } } } } };
const PLAN = { rules: [{ key: 'A', type: 'TRACK', version: 1, jsonSchema }] };
const GOOD = { userId: 'u', event: 'A', properties: { n: 1 } };
const BAD = { userId: 'u', event: 'A', properties: { n: 'one' } };

const loaded = () => loadPlan(join(temporaryFolder({ 'plan.json': JSON.stringify(PLAN) }), 'plan.json'));

it('throws for a message that the plan rejects, and queues nothing', async () => {
  const transport = fakeTransport(() => answer(200));
  const plan = { rules: await loaded(), onViolation: 'reject' } as const;
  const pipeline = createDeliveryPipeline({ webhooks: [A], transport, plan });
  const rejection = expect.objectContaining({
    code: 'ERR_HOOKS_VALIDATION',
    message: 'Violates the plan at `properties.n`: expected a value of type integer, got "one"',
    path: 'properties.n',
  }) as ValidationError;
  expect(() => pipeline.client.track(BAD)).toThrow(rejection);
  expect(() =>
    pipeline.client.enqueue({ message: { type: 'track', timestamp: '2026-01-01T00:00:00.000Z', ...BAD } }),
  ).toThrow(rejection);
  await pipeline.client.track(GOOD);
  await pipeline.close();
  expect(transport.requests).toHaveLength(1);
});

it('reports a violation, and sends the message', async () => {
  const transport = fakeTransport(() => answer(200));
  const reports: unknown[] = [];
  const plan: PlanOption = {
    rules: await loaded(),
    onViolation: ({ event }, violations) => reports.push([event, violations.map(({ kind }) => kind)]),
  };
  const pipeline = createDeliveryPipeline({ webhooks: [A], transport, plan });
  void pipeline.client.track(BAD);
  void pipeline.client.track(GOOD);
  await pipeline.close();
  expect(reports).toEqual([['A', ['type']]]);
  expect(transport.requests).toHaveLength(2);
});

it('checks messages for a tracking API, too', async () => {
  const transport = fakeTransport(() => answer(200));
  const pipeline = createTrackingApiPipeline({
    endpoint: A,
    writeKey: 'k',
    transport,
    plan: { rules: await loaded(), onViolation: 'reject' },
  });
  expect(() => pipeline.client.track(BAD)).toThrow(ValidationError);
  await pipeline.close();
  expect(transport.requests).toHaveLength(0);
});
