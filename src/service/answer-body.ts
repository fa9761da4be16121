import type { IncomingMessage } from 'node:http';
import { type ServiceResponse, refused } from './answer.ts';
import { basicUser, UNAUTHORIZED, type WriteKeys } from './authentication.ts';
import type { Share } from './byte-budget.ts';
import type { Ingest } from './ingest.ts';
import type { ServiceOptions } from './options.ts';
import { readIngestBody } from './read-body.ts';

/** What every request is answered with the help of. */
export interface Answering extends Pick<
  ServiceOptions,
  'clock' | 'log' | 'metrics' | 'deletions' | 'deletionReach'
> {
  readonly keys: WriteKeys;
  readonly ingest: Ingest;
  readonly newId: () => string;
}

/** One request on its way to its answer. */
export interface Asked {
  readonly request: IncomingMessage;
  /** Of the bytes in flight. */
  readonly share: Share;
}

/** Whoever has shown a write key. */
export interface Caller {
  readonly source: string;
  readonly writeKey: string;
}

/** Whose write key it is: of Basic auth, else of the body. Undefined: nobody's. */
export type Authorize = (bodyKey: string | undefined) => Caller | undefined;

/** Reads the body of a request and has it answered. A wrong key in the header is answered before it is read. */
export async function answerBody(
  { request, share }: Asked,
  { keys }: Answering,
  answer: (bytes: Buffer, authorize: Authorize) => Promise<ServiceResponse>,
): Promise<ServiceResponse | undefined> {
  const user = basicUser(request.headers.authorization);
  const callerOf = (writeKey: string | undefined): Caller | undefined => {
    const source = writeKey === undefined ? undefined : keys.sourceOf(writeKey);
    return source === undefined || writeKey === undefined ? undefined : { source, writeKey };
  };
  const known = callerOf(user);
  if (user !== undefined && known === undefined) return refused(UNAUTHORIZED);
  const body = await readIngestBody(request, share);
  if (body.ok) return answer(body.bytes, (bodyKey) => callerOf(user ?? bodyKey));
  return body.refusal && refused(body.refusal, known?.source);
}
