import { setMaxListeners } from 'node:events';
import { Problems, isObject } from '../../validate-options.ts';
import { resolveClientOptions } from '../../client/options.ts';
import { validateAccess } from '../../client/tracking-api-options.ts';
import { TrackingApiSink } from '../../client/tracking-api-sink.ts';
import { sleep, systemClock } from '../../clock.ts';
import { validateRoute } from '../../transport/route/validate-route.ts';
import type { Transport, TransportRequest } from '../../transport/transport.ts';
import { validateTrackingApiPipelineOptions, type TrackingApiPipelineOptions } from './options.ts';
import { checkOfPlan, validatePlanOption } from './plan-option.ts';
import { trackingApiOutcome } from './outcomes.ts';
import { ClientPipeline, undici, type Pipeline, type TransportWrapper } from './pipeline.ts';
import { PACKAGE_VERSION } from '../version.ts';

/**
 * Creates a pipeline: client → tracking API over HTTP. Throws ConfigError for invalid options and an unusable endpoint,
 * write key, proxy or CA file.
 */
export function createTrackingApiPipeline(
  options: TrackingApiPipelineOptions,
  wrapTransport?: TransportWrapper,
): Pipeline {
  const problems = new Problems();
  const given: TrackingApiPipelineOptions | undefined = isObject(options) ? options : undefined;
  if (given !== undefined) problems.collect(() => validateAccess(given));
  problems.collect(() => validateTrackingApiPipelineOptions(options));
  const { plan } = given ?? {};
  if (isObject(plan)) problems.collect(() => validatePlanOption(plan));
  if (isObject(given?.client)) problems.collect(() => resolveClientOptions(given.client));
  problems.throwIfAny('options');
  const { endpoint, client, clock = systemClock, random = Math.random } = options;
  const [stopping, cutting, over] = [new AbortController(), new AbortController(), new AbortController()];
  // Every attempt in flight and every wait adds a listener, so Node's warning about more than 10 listeners is turned off.
  setMaxListeners(0, stopping.signal, cutting.signal);
  const sink = new TrackingApiSink({
    ...options,
    version: PACKAGE_VERSION,
    clock,
    random,
    transport: withOptions(
      { signal: cutting.signal, connection: options },
      options.transport ?? undici(options, wrapTransport),
    ),
    signal: stopping.signal,
  });
  if (options.transport === undefined) validateRoute(endpoint, options, options.proxyEnv);
  return new ClientPipeline({
    sink,
    clock,
    client: resolveClientOptions(client),
    check: options.plan && checkOfPlan(options.plan),
    onReceipt: (receipt, onOutcome) => onOutcome(trackingApiOutcome(receipt)),
    settled: async () => {},
    // Does not wait for the attempts in flight, because close() does. The shortest `graceMs` of several calls counts.
    cut: async (graceMs) => {
      stopping.abort();
      if (graceMs > 0) void sleep(clock, graceMs, over.signal).then(() => cutting.abort());
      else cutting.abort();
    },
    release: async () => over.abort(),
  });
}

/**
 * Returns a transport that overrides options of every request. `signal` must be replaced, because the sink's own signal
 * aborts as soon as no further requests may start, and would cut the requests in flight.
 */
function withOptions(
  options: Pick<TransportRequest, 'signal' | 'connection'>,
  transport: Transport,
): Transport {
  return { send: (request) => transport.send({ ...request, ...options }), close: () => transport.close() };
}
