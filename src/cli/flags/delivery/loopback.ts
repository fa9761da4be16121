import { randomBytes } from 'node:crypto';
import { HooksError } from '../../../errors.ts';
import { buildMessage } from '../../../message/build.ts';
import { readJson } from '../../../message/json/read-json.ts';
import type { ReceivedRequest } from '../../../receiver/received-request.ts';
import { startReceiver } from '../../../app/explained.ts';
import { DEFAULT_SCHEMES, findSchemes } from '../../../signature/schemes/find-schemes.ts';
import { layoutOf } from '../../../signature/schemes/layout.ts';
import type { SignatureScheme } from '../../../signature/schemes/scheme.ts';
import { madeUpSecret } from '../../../signature/schemes/secrets.ts';
import type { ToLoopback, ToWebhooks } from './where-to.ts';

/** A receiver in this process, which judges the signature and the shape of every request. */
export interface Loopback {
  readonly to: ToWebhooks;
  /** Returns the judgement of the request with this signature; called once for each request. */
  readonly judgementOf: (signature: string | undefined) => LoopbackJudgement | undefined;
  readonly close: () => Promise<void>;
}

export interface LoopbackJudgement {
  readonly verdict: ReceivedRequest['verdict'];
  /** Why the body is no valid message. */
  readonly problem?: string;
}

/** Starts the receiver. Without a secret one is made up, so that signing and verifying are part of every run. */
export async function startLoopback({ secrets: given, scheme, deliverTo }: ToLoopback): Promise<Loopback> {
  const schemes = scheme === undefined ? DEFAULT_SCHEMES : findSchemes(scheme, { key: '--scheme' });
  const secrets = given.length > 0 ? given : schemes.map((each) => madeUpSecret(each, randomBytes(24)));
  const judgements = new Map<string, LoopbackJudgement>();
  const receiver = await startReceiver({
    secrets,
    scheme: schemes,
    check: problemOf,
    onRequest: ({ verdict, problem, rawHeaders }) => {
      judgements.set(
        signatureOf(rawHeaders, schemes),
        problem === undefined ? { verdict } : { verdict, problem },
      );
    },
  });
  return {
    to: signedWith(secrets, deliverTo(`${receiver.url}/webhook`)),
    judgementOf: (signature = '') => {
      const judgement = judgements.get(signature);
      // Two equal bodies have one signature, and one judgement; the map must not grow with a replay.
      if (judgements.size > 10_000) judgements.delete(judgements.keys().next().value ?? '');
      return judgement;
    },
    close: () => receiver.close(),
  };
}

/** The value of the header with the signature of the first scheme, which the result of a delivery has too. */
function signatureOf(rawHeaders: readonly string[], [first]: readonly SignatureScheme[]): string {
  const wanted = first && layoutOf(first).signatureHeader.lowerName;
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === wanted);
  return rawHeaders[at + 1] ?? '';
}

/** What a receiver that checks the message types would reject the body for. */
function problemOf(body: Uint8Array): string | undefined {
  try {
    buildMessage(readJson(body), { now: 0 });
    return undefined;
  } catch (error) {
    if (error instanceof HooksError) return error.message;
    throw error;
  }
}

function signedWith(sharedSecrets: readonly string[], to: ToWebhooks): ToWebhooks {
  const sources = Object.entries(to.sources).map(([name, source]) => {
    const destinations = Object.entries(source.destinations).map(
      ([key, each]) => [key, { ...each, sharedSecrets }] as const,
    );
    return [name, { ...source, destinations: Object.fromEntries(destinations) }] as const;
  });
  return { ...to, sources: Object.fromEntries(sources) };
}
