import type { AnswerCase } from '../answer-case.ts';
import type { Scene } from '../scene.ts';
import { responds, SECRET, type CounterpartResponse } from '../counterparts.ts';

/** A message to {url}, tried once. */
export const SEND = [
  'send',
  'track',
  '--event',
  'Signup',
  '--user-id',
  'u1',
  '--url',
  '{url}',
  '--retry-for',
  '0',
];
/** The same, signed. */
export const SIGNED = [...SEND, '--secret', SECRET];

/** `day.ndjson` to {url}, tried once. */
export const REPLAY = ['replay', 'day.ndjson', '--url', '{url}', '--retry-for', '0', '--secret', SECRET];

export interface RespondingCase extends Pick<
  AnswerCase,
  'id' | 'title' | 'cause' | 'fix' | 'never' | 'maxRequests'
> {
  readonly status: number;
  readonly headers?: CounterpartResponse['headers'];
  readonly body?: string;
  /** @default SIGNED */
  readonly argv?: readonly string[];
}

/** A case of a receiver that always responds the same. */
export function responding({
  status,
  headers = {},
  body = '',
  argv = SIGNED,
  ...rest
}: RespondingCase): AnswerCase {
  return { ...rest, given: { receiver: responds(status, body, headers) }, argv };
}

/** Once what is in the way is known, nothing else is sent. */
const FEW_REQUESTS = 8;
/** A path without a route: the paths nearby are tried, too. */
const WITH_NEIGHBORS = 26;
/** A receiver that rejects the content of a message may take others: it gets the correct ones, and no forgery. */
export const CORRECT_ONES = 40;
/** Words that may mean the signature: the mistake in verifying it is looked for, with a probe for each. */
export const WITH_PROBES = 380;

/** The same response, as `hooks test` explains it: once, without forged probes, and without ✓ for what it proves nothing about. */
export function testing(answerCase: RespondingCase): AnswerCase {
  const { id, never = [], status } = answerCase;
  const { maxRequests = status === 404 ? WITH_NEIGHBORS : FEW_REQUESTS } = answerCase;
  return {
    ...responding({ ...answerCase, argv: ['test', '{url}', '--secret', SECRET] }),
    id: `test-${id}`,
    maxRequests,
    never: [...never, '✓ unsigned', '✓ tampered', 'error of the comparison', 'unique key'],
  };
}

/** The response to `send`, and as `hooks test` explains it. */
export const both = (each: RespondingCase): readonly AnswerCase[] => [responding(each), testing(each)];

/** Sends one message to a listener as soon as it is there. */
export function sendUntilTaken(url: string, { onEnd }: Pick<Scene, 'onEnd'>): void {
  const end = new AbortController();
  onEnd(() => end.abort());
  void post(url, end.signal);
}

async function post(url: string, signal: AbortSignal): Promise<void> {
  const body =
    '{"version":1,"type":"track","userId":"u1","event":"A","properties":{},"timestamp":"2026-11-20T21:10:05.123Z"}';
  while (!signal.aborted) {
    const response = await fetch(url, { method: 'POST', body, signal }).catch(() => undefined);
    if (response !== undefined) return;
    await new Promise((resolve) => setTimeout(resolve, 20));
  }
}
