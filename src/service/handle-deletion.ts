import type { IncomingMessage } from 'node:http';
import { readDeletionRequest } from '../deletion/read-request.ts';
import type { DeletionRequest } from '../deletion/request.ts';
import { deletionStateOf, type DeletionRecord } from '../deletion/state.ts';
import { ValidationError } from '../errors.ts';
import { formatCount } from '../message/limits.ts';
import { isObject } from '../validate-options.ts';
import { readJson } from '../message/json/read-json.ts';
import { isoTime } from '../clock.ts';
import { rejectionResponse, type ServiceResponse } from './request/respond.ts';
import { readRequest, type HandlerContext, type IngestRequest } from './request/read-request.ts';
import { basicUser, UNAUTHORIZED } from './request/authentication.ts';
import { errorFields } from './log.ts';
import { jsonRejection, storeRejection, type IngestRejection } from './request/rejection.ts';

/**
 * Handles `POST /v1/deletions` (contract, Deletion requests). By default a write key may ask for deletion at its own source
 * only, because with that key it could send `delete` messages to that source too. With reach `all` the request names the
 * sources; a request without names means all sources.
 */
export async function handleDeletion(
  ingestRequest: IngestRequest,
  context: HandlerContext,
): Promise<ServiceResponse | undefined> {
  const read = await readRequest(ingestRequest, context);
  if (!read.ok) return read.response;
  try {
    const input = readJson(read.bytes);
    const writeKey = isObject(input) ? input['writeKey'] : undefined;
    const caller = read.authorize(typeof writeKey === 'string' ? writeKey : undefined);
    if (caller === undefined) return rejectionResponse(UNAUTHORIZED);
    const request = narrowed(readDeletionRequest(input), caller.source, context);
    if (request === undefined) return rejectionResponse(FORBIDDEN, caller.source);
    const deliveries = context.deletions.size(request);
    return deliveries > MAX_DELIVERIES
      ? rejectionResponse(tooMany(deliveries), caller.source)
      : await createDeletion(request, caller.source, context);
  } catch (error) {
    return rejectionResponse(jsonRejection(error));
  }
}

/** Most deliveries of a request: the caller waits until all are stored, and every store takes 1 to 2 s for this number. */
const MAX_DELIVERIES = 10_000;

function tooMany(deliveries: number): IngestRejection {
  return {
    status: 413,
    code: 'too-large',
    message: `Expected user ids times destinations to be at most ${formatCount(MAX_DELIVERIES)}, got ${formatCount(deliveries)}`,
    hint: 'send the user ids in several requests',
  };
}

const FORBIDDEN: IngestRejection = {
  status: 403,
  code: 'forbidden',
  message: 'a write key asks for deletion at its own source only',
  hint: 'leave `sources` out, use the key of that source, run `hooks delete`, or serve with --deletions all',
};

/**
 * Limits a deletion request to the caller's own source unless the reach is `all`. Undefined if the request names another
 * source.
 */
function narrowed(
  request: DeletionRequest,
  own: string,
  { deletionReach = 'own' }: HandlerContext,
): DeletionRequest | undefined {
  if (deletionReach === 'all') return request;
  const { userIds, sources = [own] } = request;
  return sources.every((name) => name === own) ? { userIds, sources } : undefined;
}

/** Responds with the state of a deletion request at the sources that the caller may see. */
export async function findDeletion(
  { headers }: IncomingMessage,
  id: string,
  context: HandlerContext,
): Promise<ServiceResponse> {
  const writeKey = basicUser(headers.authorization);
  const own = writeKey === undefined ? undefined : context.keys.sourceOf(writeKey);
  if (own === undefined) return rejectionResponse(UNAUTHORIZED);
  try {
    return shownTo(own, await context.deletions.get(id), context);
  } catch (error) {
    context.log.error('a deletion request could not be read', { source: own, ...errorFields(error) });
    return rejectionResponse(storeRejection(error), own);
  }
}

function shownTo(
  own: string,
  record: DeletionRecord | undefined,
  { deletionReach = 'own' }: HandlerContext,
): ServiceResponse {
  const sources = Object.entries(record?.sources ?? {}).filter(
    ([name]) => deletionReach === 'all' || name === own,
  );
  if (record === undefined || sources.length === 0) return rejectionResponse(UNKNOWN);
  const shown = shownDeletion({ ...record, sources: Object.fromEntries(sources) });
  return { status: 200, body: { success: true, ...shown } };
}

const UNKNOWN: IngestRejection = {
  status: 404,
  code: 'not-found',
  message: 'there is no deletion request with this id',
};

async function createDeletion(
  request: DeletionRequest,
  source: string,
  { deletions, log }: HandlerContext,
): Promise<ServiceResponse> {
  try {
    const record = await deletions.create(request);
    log.info('deletion requested', { deletion: record.id, source, users: record.userIds.length });
    return { status: 200, body: { success: true, ...shownDeletion(record) }, source };
  } catch (error) {
    if (error instanceof ValidationError) throw error;
    log.error('a deletion request could not be stored', { source, ...errorFields(error) });
    return rejectionResponse(storeRejection(error), source);
  }
}

/** A deletion request for a response, with its state per source. */
function shownDeletion({ id, createdAt, userIds, sources }: DeletionRecord): object {
  return {
    id,
    createdAt: isoTime(createdAt),
    users: userIds.length,
    sources: Object.fromEntries(
      Object.entries(sources).map(([name, source]) => [name, { state: deletionStateOf(source), ...source }]),
    ),
  };
}
