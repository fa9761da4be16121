import type { DeliveryOptions, Sources } from '../../../engine/options.ts';
import { HooksError } from '../../../errors.ts';
import {
  connectionKeyOf,
  probeWebhook,
  whyPrivateHost,
  whyPrivateName,
  type Probe,
} from '../../../app/probe-webhook.ts';
import type { Reach } from '../../../app/open-engine.ts';
import { PRIVATE_WEBHOOK_HINT } from '../../../app/private-webhooks.ts';
import { redactUrl } from '../../../redact.ts';
import type { Io } from '../../io.ts';
import { examineFailure, networkCauseOf, type ExaminedFailure } from '../../../diagnosis/explain.ts';
import { destinationsOf } from '../../flags/delivery/where-to.ts';
import { durationText } from '../../attempt-text.ts';
import { fail, ok, warn, type DoctorResult } from './doctor-result.ts';

/** A URL to connect to, with the settings of its destination. */
interface ProbeTarget {
  readonly url: string;
  readonly delivery: DeliveryOptions;
}

/** Connects to each enabled webhook: name lookup, connect and TLS, without sending HTTP. */
export async function webhookResults(
  sources: Sources,
  { allowPrivate }: Pick<Reach, 'allowPrivate'>,
  io: Pick<Io, 'env' | 'signal'>,
): Promise<DoctorResult[]> {
  const targets = probeTargetsOf(sources).map(({ url, delivery }) => ({
    url,
    delivery: allowPrivate ? { ...delivery, allowPrivate } : delivery,
  }));
  const probed = await Promise.all(
    targets.map(async (target) => ({ ...target, probe: await probeTarget(target, io) })),
  );
  // A host that cannot be resolved is no correction of another.
  const urls = probed.filter(({ probe }) => isResolved(probe)).map(({ url }) => url);
  const results = await Promise.all(probed.map((each) => probeResults(each, urls, io)));
  return results.flat();
}

function isResolved(probe: Probe | HooksError): boolean {
  return !(probe instanceof HooksError) && (probe.isReached || probe.error !== 'dns');
}

/** Connects to a webhook. Returns the error of settings that cannot be used. */
async function probeTarget(
  { url, delivery }: ProbeTarget,
  { env, signal }: Pick<Io, 'env' | 'signal'>,
): Promise<Probe | HooksError> {
  try {
    return await probeWebhook(url.trim(), {
      timeoutMs: delivery.timeoutMs,
      connection: delivery,
      signal,
      proxyEnv: env,
    });
  } catch (error) {
    if (error instanceof HooksError) return error;
    throw error;
  }
}

/** Lists each URL once for each set of connection options. */
function probeTargetsOf(sources: Sources): ProbeTarget[] {
  const targets = new Map<string, ProbeTarget>();
  for (const { enabled, webhooks, delivery } of destinationsOf(sources)) {
    if (!enabled) continue;
    for (const { url } of webhooks) {
      targets.set(`${url} ${delivery.allowPrivate}${connectionKeyOf(delivery)}`, { url, delivery });
    }
  }
  return [...targets.values()];
}

async function probeResults(
  { url, delivery, probe }: ProbeTarget & { readonly probe: Probe | HooksError },
  urls: readonly string[],
  { env, signal }: Pick<Io, 'env' | 'signal'>,
): Promise<DoctorResult[]> {
  const shown = redactUrl(url);
  if (probe instanceof HooksError) return [fail('webhook', `${shown}: ${probe.message}`, probe.hint)];
  if (probe.isReached) {
    return [...reachedResults(shown, probe, delivery), ...(await speechResults(shown, { env, signal }))];
  }
  const { error, cause } = probe;
  const found = await examineFailure({ url: shown, error, cause, urls, env, signal });
  const unreached = unreachedResult(shown, { ...probe, ...found });
  if (probe.via !== undefined || delivery.allowPrivate === true) return [unreached];
  // Reports a private address besides the failed connection: `serve` would reject it even if the webhook responded.
  const at = new URL(url.trim());
  const reason = whyPrivateHost(at) ?? (await whyPrivateName(at));
  return reason === undefined
    ? [unreached]
    : [unreached, blockedResult(`${shown}: a private address (${reason})`)];
}

function reachedResults(
  url: string,
  probe: Probe & { isReached: true },
  { allowPrivate }: DeliveryOptions,
): DoctorResult[] {
  const { ms, address, notPublic, via, validUntil } = probe;
  const by = via === undefined ? address : `the proxy ${via}`;
  const isBlocked = via === undefined && notPublic !== undefined && allowPrivate !== true;
  const said = `${url}: connected to ${by} in ${durationText(ms)}`;
  return [
    isBlocked ? blockedResult(`${said}, which is ${notPublic}`) : ok('webhook', said),
    ...(validUntil === undefined ? [] : [certificateResult(url, validUntil)]),
  ];
}

function blockedResult(said: string): DoctorResult {
  return fail('webhook', `${said}: serve and worker do not connect to it`, PRIVATE_WEBHOOK_HINT);
}

/** Reports a port that accepts connections but does not speak the protocol of the URL. Tries TLS and HTTP to find out. */
async function speechResults(
  url: string,
  { env, signal }: Pick<Io, 'env' | 'signal'>,
): Promise<DoctorResult[]> {
  const found = await examineFailure({ url, error: 'protocol', env, signal, timeoutMs: HELLO_MS });
  const cause = found && networkCauseOf({ error: 'protocol', ...found }, { url, ...found });
  return cause?.says === undefined ? [] : [fail('webhook', `${url}: ${cause.says}`, cause.fix)];
}

/** Time to wait for a response to TLS or HTTP, because some servers do not respond to a protocol that they do not know. */
const HELLO_MS = 1_000;

const DAY_MS = 86_400_000;
/** Days before the expiry of a certificate at which to warn. Automatic renewals have happened by then. */
const SOON_DAYS = 14;

function certificateResult(url: string, validUntil: number): DoctorResult {
  const days = Math.floor((validUntil - Date.now()) / DAY_MS);
  const said = `${url}: the certificate is valid for ${days} more day${days === 1 ? '' : 's'}`;
  if (days >= SOON_DAYS) return ok('certificate', said);
  return warn('certificate', said, 'renew it: once it has expired, nothing is sent there');
}

function unreachedResult(
  url: string,
  unreached: Probe & { isReached: false } & Partial<ExaminedFailure>,
): DoctorResult {
  const { error, detail } = unreached;
  const { says, fix } = networkCauseOf(unreached, { url, ...unreached }) ?? {};
  const more = says === undefined ? '' : `; ${says}`;
  return fail('webhook', `${url}: ${error}: ${detail}${more}`, fix);
}
