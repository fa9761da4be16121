import { sleep } from '../../clock.ts';
import type { ReceiverMistake } from '../check.ts';
import { isTakenResponse } from '../judge-responses.ts';
import { INTERRUPTED } from '../receiver-under-test.ts';
import { OTHER_TIMEOUT_MS, type Asker, type FailedMessage } from './asker.ts';

/** Detects a receiver that was late only once: it responds when the same message is sent again. */
export async function respondsAgain(
  { context }: Asker,
  { request }: FailedMessage,
): Promise<ReceiverMistake | undefined> {
  const again = await context.receiver.ask(request, { timeoutMs: OTHER_TIMEOUT_MS });
  if (again.kind === 'none') return undefined;
  return {
    code: 'timeout',
    says: `no response in time, but one to the same message when it was sent again (${again.status}): the program was still starting, or is slow at times`,
    fix: 'wait until the receiver is ready, and let it respond first and work later; --timeout waits longer, up to 30s',
    confidence: 'likely',
  };
}

/**
 * Detects a receiver that does not respond to JSON, but to the same message with another Content-Type: probably two of
 * its parts read a JSON body, and the second one waits forever.
 */
export async function readsTwice(
  { context: { receiver } }: Asker,
  { request }: FailedMessage,
): Promise<ReceiverMistake | undefined> {
  const header = ['Content-Type', 'application/x-hooks-test'] as const;
  const other = await receiver.ask(request, { header, timeoutMs: OTHER_TIMEOUT_MS });
  if (other.kind === 'none') return undefined;
  return {
    code: 'timeout',
    says: `it responds to the same message at once if its Content-Type is not JSON (${other.status}), but never to JSON: probably a parser of JSON reads the body, and something else read it before or reads it again and waits for its end`,
    fix: "read the body once, and hash what that reader got: express.raw or express.json({ verify }); in Fastify addContentTypeParser with parseAs: 'buffer', or a preParsing hook that returns a new stream of what it read",
    confidence: 'likely',
  };
}

/** Detects a rule that rejects the User-Agent of hooks: the same message with that of a browser gets another status. */
export async function blocksUserAgent(
  { context: { receiver } }: Asker,
  { request, response }: FailedMessage,
): Promise<ReceiverMistake | undefined> {
  if (response.kind === 'none') return undefined;
  const other = await receiver.ask(request, { header: ['User-Agent', 'Mozilla/5.0'] });
  if (other.kind === 'none' || other.status === response.status) return undefined;
  return {
    code: 'blocks-user-agent',
    says: `the same message with the User-Agent Mozilla/5.0 gets ${other.status}, and ${response.status} with that of hooks: a rule in front of the receiver (a firewall, a bot filter) rejects it`,
    fix: "allow the User-Agent hooks-cli in that rule, at least for this path; or send another: --header 'User-Agent: …'",
  };
}

const LATER_MS = 1_000;

/** Detects a rate limit: the receiver accepts the same message LATER_MS later. */
export async function acceptsLater(
  { context }: Asker,
  { request, response }: FailedMessage,
): Promise<ReceiverMistake | undefined> {
  const { clock, receiver, signal } = context;
  await sleep(clock, LATER_MS, signal);
  if (receiver.over === INTERRUPTED || !isTakenResponse(await receiver.ask(request))) return undefined;
  const { status, server } = response.kind === 'none' ? { status: 0 } : response;
  return {
    code: 'rate-limit',
    says: `${server ?? 'it'} rejects messages that come in quick succession (${status}), and accepts the same message a second later: a limit on requests, or too few workers`,
    fix: 'raise the limit for this path (nginx: limit_req with burst=50 nodelay), or start more workers: senders send bursts, and hooks test some 40 requests in a second',
    confidence: 'likely',
  };
}
