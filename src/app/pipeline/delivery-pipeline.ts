import { Faults, isObject } from '../../check-options.ts';
import { resolveClientOptions } from '../../client/options.ts';
import { checkDelivery } from '../../engine/check-delivery.ts';
import { prepareDestinations } from '../../engine/destination.ts';
import { DEFAULT_DESTINATION, DEFAULT_SOURCE, type Sources } from '../../engine/options.ts';
import { USER_AGENT } from '../version.ts';
import { checkDeliveryPipelineOptions, isLongForm, type DeliveryPipelineOptions } from './options.ts';
import { openDeliveryPipeline, type DeliveryParts, type Pipeline } from './pipeline.ts';
import { sourceNamed, sourcesOf, type ShortForm } from './short-form.ts';
import { completeSources } from './sources-input.ts';

/** Client → engine → queue → transport. Throws ConfigError for unknown options, and for webhooks that cannot be reached because of their URL or the route to it. */
export function createDeliveryPipeline(options: DeliveryPipelineOptions): Pipeline {
  const { sources, client } = readDeliveryOptions(options);
  const source = sourceNamed(sources, isLongForm(options) ? options.source : undefined);
  return openDeliveryPipeline({ ...options, sources, source, client });
}

/** Throws one ConfigError that names everything that is wrong. */
function readDeliveryOptions(options: DeliveryPipelineOptions): Pick<DeliveryParts, 'sources' | 'client'> {
  const faults = new Faults();
  faults.collect(() => checkDeliveryPipelineOptions(options));
  if (!isObject(options)) faults.throwIfAny('options');
  const { client: given } = options;
  const client = isObject(given) ? faults.collect(() => resolveClientOptions(given)) : undefined;
  const sources = faults.collect(() =>
    isLongForm(options) ? completeSources(options.sources) : soundSourcesOf(options, faults),
  );
  if (sources !== undefined) faults.collect(() => prepareDestinations(sources, USER_AGENT));
  faults.throwIfAny('options');
  return { sources: sources ?? {}, client: client ?? resolveClientOptions() };
}

function soundSourcesOf(options: ShortForm, faults: Faults): Sources {
  const sources = sourcesOf(options);
  const delivery = sources[DEFAULT_SOURCE]?.destinations[DEFAULT_DESTINATION]?.delivery;
  const setting = `sources.${DEFAULT_SOURCE}.destinations.${DEFAULT_DESTINATION}.delivery`;
  if (delivery !== undefined) faults.collect(() => checkDelivery(delivery, setting));
  return sources;
}
