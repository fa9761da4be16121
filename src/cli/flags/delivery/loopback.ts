import { randomBytes } from 'node:crypto';
import { InputError, ValidationError } from '../../../errors.ts';
import { buildMessage } from '../../../message/build.ts';
import { readJson } from '../../../message/json/read-json.ts';
import { isJsonObject, isMessageType } from '../../../message/types.ts';
import type { ReceivedRequest } from '../../../receiver/received-request.ts';
import { startReceiver } from '../../../app/explained.ts';
import { DEFAULT_SCHEMES, findSchemes } from '../../../signature/schemes/find-schemes.ts';
import { layoutOf } from '../../../signature/schemes/layout.ts';
import type { SignatureScheme } from '../../../signature/schemes/scheme.ts';
import { madeUpSecret } from '../../../signature/schemes/secrets.ts';
import { mapDestinations } from './where-to.ts';
import type { ToLoopback, ToWebhooks } from './where-to.ts';

/** The receiver of --loopback in this process, which checks the signature and the message of every request. */
export interface Loopback {
  readonly to: ToWebhooks;
  /** Returns what the receiver found in the request with this signature. Called once for each request. */
  readonly judgementOf: (signature: string | undefined) => LoopbackJudgement | undefined;
  readonly close: () => Promise<void>;
}

/** The verdict of the --loopback receiver on a signature, and why the body is not a valid message. */
export interface LoopbackJudgement extends Pick<ReceivedRequest, 'verdict'> {
  readonly problem: string | undefined;
}

/** Starts the receiver. Makes up a secret if none is given, so that every run signs and verifies. */
export async function startLoopback({ secrets: given, scheme, deliverTo }: ToLoopback): Promise<Loopback> {
  const schemes = scheme === undefined ? DEFAULT_SCHEMES : findSchemes(scheme, { key: '--scheme' });
  const secrets = given.length > 0 ? given : schemes.map((each) => madeUpSecret(each, randomBytes(24)));
  const judgements = new Map<string, LoopbackJudgement>();
  const receiver = await startReceiver({
    secrets,
    scheme: schemes,
    check: problemOf,
    onRequest: ({ verdict, problem, rawHeaders }) => {
      judgements.set(signatureOf(rawHeaders, schemes), { verdict, problem });
    },
  });
  const to = deliverTo(`${receiver.url}/webhook`);
  return {
    to: { ...to, sources: mapDestinations(to.sources, (each) => ({ ...each, sharedSecrets: secrets })) },
    judgementOf: (signature = '') => {
      const judgement = judgements.get(signature);
      // A judgement stays after it is read, because equal bodies share a signature. The oldest is deleted to save memory.
      if (judgements.size > 10_000) judgements.delete(judgements.keys().next().value ?? '');
      return judgement;
    },
    close: () => receiver.close(),
  };
}

/** Returns the signature header of the first scheme, by which the result of a delivery finds its judgement. */
function signatureOf(rawHeaders: readonly string[], [first]: readonly SignatureScheme[]): string {
  const wanted = first && layoutOf(first).signatureHeader.lowerName;
  const at = rawHeaders.findIndex((name, index) => index % 2 === 0 && name.toLowerCase() === wanted);
  return rawHeaders[at + 1] ?? '';
}

/** Returns why a message in a body is invalid. Undefined for a valid one, and for any other body that --exact can send. */
function problemOf(body: Uint8Array): string | undefined {
  try {
    const value = readJson(body);
    if (isJsonObject(value) && isMessageType(value['type'])) buildMessage(value, { now: 0 });
    return undefined;
  } catch (error) {
    if (error instanceof ValidationError) return error.message;
    if (error instanceof InputError) return undefined;
    throw error;
  }
}
