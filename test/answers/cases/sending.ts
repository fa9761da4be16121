import type { AnswerCase } from '../answer-case.ts';
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

export interface RespondingCase extends Pick<AnswerCase, 'id' | 'title' | 'cause' | 'fix' | 'never'> {
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
  return { ...rest, given: { receiver: responds(status, body, headers) }, argv, exitCode: 1 };
}

/** The same response, as `hooks test` explains it: once, without forged probes, and without ✓ for what it proves nothing about. */
export function testing(answerCase: RespondingCase): AnswerCase {
  const { id, never = [] } = answerCase;
  return {
    ...responding({ ...answerCase, argv: ['test', '{url}', '--secret', SECRET] }),
    id: `test-${id}`,
    never: [...never, '✓ unsigned', '✓ tampered', 'error of the comparison', 'unique key'],
    isVariant: true,
  };
}
