import type { DeliveryOptions, Sources } from '../../engine/options.ts';
import { HooksError } from '../../errors.ts';
import { probeWebhook, type Probe } from '../../app/probe-webhook.ts';
import { redactUrl } from '../../redact.ts';
import type { Io } from '../io.ts';
import { durationText } from '../print/attempt-text.ts';
import { WAY_OUT_BY_ERROR } from '../print/way-out.ts';
import { fail, ok, warn, type DoctorFinding } from './finding.ts';

interface Place {
  readonly url: string;
  readonly delivery: DeliveryOptions;
}

/** A connection to each webhook that is in use: name lookup, connect and TLS, and not a byte of HTTP. */
export async function webhookFindings(
  sources: Sources,
  io: Pick<Io, 'env' | 'signal'>,
): Promise<DoctorFinding[]> {
  const findings = await Promise.all(placesOf(sources).map((place) => look(place, io)));
  return findings.flat();
}

/** Each URL once for each file of issuers. */
function placesOf(sources: Sources): Place[] {
  const places = new Map<string, Place>();
  for (const { destinations } of Object.values(sources)) {
    for (const { enabled, webhooks, delivery } of Object.values(destinations)) {
      if (!enabled) continue;
      for (const { url } of webhooks) places.set(`${url} ${delivery.caFile ?? ''}`, { url, delivery });
    }
  }
  return [...places.values()];
}

async function look(
  { url, delivery }: Place,
  { env, signal }: Pick<Io, 'env' | 'signal'>,
): Promise<DoctorFinding[]> {
  const { timeoutMs, caFile } = delivery;
  const shown = redactUrl(url);
  try {
    const seen = await probeWebhook(url.trim(), { timeoutMs, caFile, signal, proxyEnv: env });
    return seen.isReached ? reached(shown, seen) : [unreached(shown, seen)];
  } catch (error) {
    if (!(error instanceof HooksError)) throw error;
    return [fail('webhook', `${shown}: ${error.message}`, error.hint)];
  }
}

function reached(url: string, probe: Probe & { isReached: true }): DoctorFinding[] {
  const { ms, address, notPublic, via, validUntil } = probe;
  const by = via === undefined ? address : `the proxy ${via}`;
  const refused = via === undefined && notPublic !== undefined;
  const note = refused ? ` (${notPublic}: serve and worker want --allow-private for it)` : '';
  return [
    ok('webhook', `${url}: connected to ${by} in ${durationText(ms)}${note}`),
    ...(validUntil === undefined ? [] : [certificateFinding(url, validUntil)]),
  ];
}

const DAY_MS = 86_400_000;
/** What renews certificates by itself has done so by then. */
const SOON_DAYS = 14;

function certificateFinding(url: string, validUntil: number): DoctorFinding {
  const days = Math.floor((validUntil - Date.now()) / DAY_MS);
  const said = `${url}: the certificate is valid for ${days} more day${days === 1 ? '' : 's'}`;
  if (days >= SOON_DAYS) return ok('certificate', said);
  return warn('certificate', said, 'renew it: once it has expired, nothing is sent there');
}

function unreached(url: string, { error, detail, via }: Probe & { isReached: false }): DoctorFinding {
  const by = via === undefined ? '' : ` through the proxy ${via}`;
  const hint = error === 'timeout' ? 'is the host up, and does a firewall let you through?' : undefined;
  return fail('webhook', `${url}: ${error}${by}: ${detail}`, hint ?? WAY_OUT_BY_ERROR[error]);
}
