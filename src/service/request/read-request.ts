import type { IncomingMessage } from 'node:http';
import { basicUser, UNAUTHORIZED, type WriteKeys } from './authentication.ts';
import type { ByteShare } from './byte-share.ts';
import type { Ingest } from '../ingest/ingest.ts';
import type { LineLimit } from '../line-limit.ts';
import type { ServiceOptions } from '../options.ts';
import { readIngestBody } from './read-body.ts';
import { rejectionResponse, type RejectionGroup, type ServiceResponse } from './respond.ts';

/** The dependencies of every request handler. */
export interface HandlerContext extends Pick<
  ServiceOptions,
  'clock' | 'log' | 'metrics' | 'deletions' | 'deletionReach' | 'planGuards'
> {
  readonly keys: WriteKeys;
  readonly ingest: Ingest;
  readonly rejectionLimit: LineLimit<RejectionGroup>;
}

/** A request that has no response yet. */
export interface IngestRequest {
  readonly request: IncomingMessage;
  /** The request's share of the bytes in flight. */
  readonly share: ByteShare;
}

/** A sender with a valid write key, and the source of that key. */
export interface Caller {
  readonly source: string;
  readonly writeKey: string;
}

export type ReadRequest =
  | {
      readonly ok: true;
      readonly bytes: Buffer;
      /** Finds the source of the write key in Basic auth, else of `bodyKey`. Undefined if the key belongs to no source. */
      readonly authorize: (bodyKey: string | undefined) => Caller | undefined;
    }
  /** The response that rejects the request. Undefined if the sender disconnected. */
  | { readonly ok: false; readonly response: ServiceResponse | undefined };

/** Reads the body of a request. Rejects a wrong key in the header before reading the body. */
export async function readRequest(
  { request, share }: IngestRequest,
  { keys }: HandlerContext,
): Promise<ReadRequest> {
  const user = basicUser(request.headers.authorization);
  const callerOf = (writeKey: string | undefined): Caller | undefined => {
    const source = writeKey === undefined ? undefined : keys.sourceOf(writeKey);
    return source === undefined || writeKey === undefined ? undefined : { source, writeKey };
  };
  const known = callerOf(user);
  if (user !== undefined && known === undefined) {
    return { ok: false, response: rejectionResponse(UNAUTHORIZED) };
  }
  const body = await readIngestBody(request, share);
  if (body.ok) return { ...body, authorize: (bodyKey) => callerOf(user ?? bodyKey) };
  return { ok: false, response: body.rejection && rejectionResponse(body.rejection, known?.source) };
}
