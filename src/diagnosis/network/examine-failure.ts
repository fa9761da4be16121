import { setMaxListeners } from 'node:events';
import {
  sceneOf,
  type ExaminedFailure,
  type FailureToExamine,
  type Scene,
} from '../../transport/probes/probes.ts';
import { AT_ONCE, predictions, quotedProbes, type CausePrediction } from './network-causes.ts';

/** Matches the codes of causes that further tests can make more exact. An empty code stands for an unknown cause. */
const INEXACT =
  /^(?:|dns-for-now|no-connection-in-time|unreachable|no-tls|tls-(?:alert|handshake|unfinished|private|chain)|tunnel-no-tls|proxy-[\w-]+|wants-(?:tls|client-certificate)|not-found|not-found-words|no-post|bad-gateway|late)$/;

/** Finds the first cause whose predictions all match the probes. The probes do not send the message again. */
export async function examineWithProbes(failure: FailureToExamine): Promise<ExaminedFailure | undefined> {
  const { url, cause, signal } = failure;
  if (!URL.canParse(url) || signal.aborted || !INEXACT.test(cause ?? '')) return undefined;
  const probing = new AbortController();
  setMaxListeners(0, probing.signal);
  const abort = (): void => probing.abort();
  signal.addEventListener('abort', abort);
  try {
    return await examine(failure, sceneOf(failure, probing.signal));
  } finally {
    signal.removeEventListener('abort', abort);
    abort();
  }
}

async function examine(
  { error, cause, status }: FailureToExamine,
  { show, proxy }: Scene,
): Promise<ExaminedFailure | undefined> {
  // Starts each probe of a cause only if the earlier ones agree. Examines all causes at the same time.
  const agrees = async ({ shows }: CausePrediction): Promise<boolean> => {
    for (const [probe, pattern] of shows) if (!pattern.test(await show(probe))) return false;
    return true;
  };
  const all = predictions();
  const agreeing = await Promise.all(all.map(agrees));
  const found = all.find((_, at) => agreeing[at]);
  if (found === undefined && (proxy === undefined || cause === undefined)) return undefined;
  const code = found?.code ?? cause ?? error;
  const quoted = await Promise.all(quotedProbes(code).map(async (name) => [name, await show(name)] as const));
  const shown = quoted.filter(([name, text]) => text !== '' && !AT_ONCE.has(name));
  return {
    cause: code,
    // Sets `shown` for a response even if empty, to mark a cause that does not come from the words of the response.
    ...((shown.length > 0 || (found && status !== undefined)) && { shown: Object.fromEntries(shown) }),
    ...(proxy !== undefined && { proxy: proxy.variable }),
  };
}
