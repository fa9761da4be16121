import type { IncomingMessage } from 'node:http';
import { readDeletionRequest } from '../deletion/read-request.ts';
import type { DeletionRequest } from '../deletion/request.ts';
import { deletionStateOf, type DeletionRecord } from '../deletion/state.ts';
import { ValidationError } from '../errors.ts';
import { formatCount } from '../format-count.ts';
import { isObject } from '../kind-of.ts';
import { readJson } from '../message/json.ts';
import { type ServiceResponse, refused } from './answer.ts';
import { answerBody, type Answering, type Asked } from './answer-body.ts';
import { basicUser, UNAUTHORIZED } from './authentication.ts';
import { errorFields } from './log.ts';
import { refusalOfJson, refusalOfStore, type IngestRejection } from './refusal.ts';

/**
 * `POST /v1/deletions` (contract, Deletion requests): at the write key's own source, where that key may send a `delete` message as
 * well. Where keys may reach all sources, at those that the request names, else at all of them.
 */
export async function answerDeletion(
  asked: Asked,
  answering: Answering,
): Promise<ServiceResponse | undefined> {
  return answerBody(asked, answering, async (bytes, authorize) => {
    try {
      const input = readJson(bytes);
      const writeKey = isObject(input) ? input['writeKey'] : undefined;
      const caller = authorize(typeof writeKey === 'string' ? writeKey : undefined);
      if (caller === undefined) return refused(UNAUTHORIZED);
      const request = narrowed(readDeletionRequest(input), caller.source, answering);
      if (request === undefined) return refused(FORBIDDEN, caller.source);
      const deliveries = answering.deletions.size(request);
      return deliveries > MAX_DELIVERIES
        ? refused(tooMany(deliveries), caller.source)
        : await createDeletion(request, caller.source, answering);
    } catch (error) {
      return refused(refusalOfJson(error));
    }
  });
}

/** The caller waits until all of a request is stored: every store takes so many in a second or two. */
const MAX_DELIVERIES = 10_000;

function tooMany(deliveries: number): IngestRejection {
  return {
    status: 413,
    code: 'too-large',
    message: `expected user ids times destinations to be at most ${formatCount(MAX_DELIVERIES)}, got ${formatCount(deliveries)}`,
    hint: 'send the user ids in several requests',
  };
}

const FORBIDDEN: IngestRejection = {
  status: 403,
  code: 'forbidden',
  message: 'a write key asks for deletion at its own source only',
  hint: 'leave `sources` out, use the key of that source, run `hooks delete`, or serve with --deletions all',
};

/** Undefined: it names another's source. */
function narrowed(
  request: DeletionRequest,
  own: string,
  { deletionReach = 'own' }: Answering,
): DeletionRequest | undefined {
  if (deletionReach === 'all') return request;
  const { userIds, sources = [own] } = request;
  return sources.every((name) => name === own) ? { userIds, sources } : undefined;
}

/** How far a deletion request has come, at the sources that the caller may ask for. */
export async function findDeletion(
  { headers }: IncomingMessage,
  id: string,
  answering: Answering,
): Promise<ServiceResponse> {
  const writeKey = basicUser(headers.authorization);
  const own = writeKey === undefined ? undefined : answering.keys.sourceOf(writeKey);
  if (own === undefined) return refused(UNAUTHORIZED);
  try {
    return shownTo(own, await answering.deletions.get(id), answering);
  } catch (error) {
    answering.log.error('a deletion request could not be read', { source: own, ...errorFields(error) });
    return refused(refusalOfStore(error), own);
  }
}

function shownTo(
  own: string,
  record: DeletionRecord | undefined,
  { deletionReach = 'own' }: Answering,
): ServiceResponse {
  const sources = Object.entries(record?.sources ?? {}).filter(
    ([name]) => deletionReach === 'all' || name === own,
  );
  if (record === undefined || sources.length === 0) return refused(UNKNOWN);
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
  { deletions, log }: Answering,
): Promise<ServiceResponse> {
  try {
    const record = await deletions.create(request);
    log.info('a deletion was asked for', { deletion: record.id, source, users: record.userIds.length });
    return { status: 200, body: { success: true, ...shownDeletion(record) }, source };
  } catch (error) {
    if (error instanceof ValidationError) throw error;
    log.error('a deletion request could not be stored', { source, ...errorFields(error) });
    return refused(refusalOfStore(error), source);
  }
}

/** With its state per source. */
function shownDeletion({ id, createdAt, userIds, sources }: DeletionRecord): object {
  return {
    id,
    createdAt: new Date(createdAt).toISOString(),
    users: userIds.length,
    sources: Object.fromEntries(
      Object.entries(sources).map(([name, source]) => [name, { state: deletionStateOf(source), ...source }]),
    ),
  };
}
