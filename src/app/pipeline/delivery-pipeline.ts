import { resolveClientOptions } from '../../client/options.ts';
import { Problems, isObject } from '../../validate-options.ts';
import { prepareDestinations } from '../../engine/destination.ts';
import { DEFAULT_DESTINATION, DEFAULT_SOURCE, validateDelivery, type Sources } from '../../engine/options.ts';
import { USER_AGENT } from '../version.ts';
import { validateDeliveryPipelineOptions, isLongForm, type DeliveryPipelineOptions } from './options.ts';
import { openDeliveryPipeline, type DeliveryParts, type Pipeline } from './pipeline.ts';
import { validatePlanOption } from './plan-option.ts';
import { sourceNamed, sourcesOf, type ShortForm } from './short-form.ts';
import { completeSources } from './sources-input.ts';

/**
 * Creates a pipeline: client → engine → queue → transport. Throws ConfigError for invalid options, and for webhooks with an
 * unusable URL, proxy or CA file.
 */
export function createDeliveryPipeline(options: DeliveryPipelineOptions): Pipeline {
  const { sources, client } = readDeliveryOptions(options);
  const source = sourceNamed(sources, isLongForm(options) ? options.source : undefined);
  return openDeliveryPipeline({ ...options, sources, source, client });
}

/** Validates the options. Throws one ConfigError that names all problems. */
function readDeliveryOptions(options: DeliveryPipelineOptions): Pick<DeliveryParts, 'sources' | 'client'> {
  const problems = new Problems();
  problems.collect(() => validateDeliveryPipelineOptions(options));
  if (!isObject(options)) problems.throwIfAny('options');
  const { client: given, plan } = options;
  if (isObject(plan)) problems.collect(() => validatePlanOption(plan));
  const client = isObject(given) ? problems.collect(() => resolveClientOptions(given)) : undefined;
  const sources = problems.collect(() =>
    isLongForm(options) ? completeSources(options.sources) : shortFormSources(options, problems),
  );
  if (sources !== undefined) problems.collect(() => prepareDestinations(sources, USER_AGENT));
  problems.throwIfAny('options');
  return { sources: sources ?? {}, client: client ?? resolveClientOptions() };
}

function shortFormSources(options: ShortForm, problems: Problems): Sources {
  const sources = sourcesOf(options);
  const delivery = sources[DEFAULT_SOURCE]?.destinations[DEFAULT_DESTINATION]?.delivery;
  const setting = `sources.${DEFAULT_SOURCE}.destinations.${DEFAULT_DESTINATION}.delivery`;
  if (delivery !== undefined) problems.collect(() => validateDelivery(delivery, setting));
  return sources;
}
