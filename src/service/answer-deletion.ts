import type { IncomingMessage } from 'node:http';
import { readDeletionRequest } from '../deletion/read-request.ts';
import type { DeletionRequest } from '../deletion/request.ts';
import { stateOf, type DeletionRecord } from '../deletion/state.ts';
import { ValidationError } from '../errors.ts';
import { readJson } from '../message/json.ts';
import { isObject } from '../message/validate.ts';
import { type Answer, refused } from './answer.ts';
import { answerBody, type Answering, type Asked } from './answer-body.ts';
import { basicUser, UNAUTHORIZED } from './authentication.ts';
import { textOf } from './log.ts';
import { refusalOfJson, refusalOfStore } from './refusal.ts';

/** `POST /v1/deletions`: any source's write key may ask, as any of their servers may send a `delete` message. */
export async function answerDeletion(asked: Asked, answering: Answering): Promise<Answer | undefined> {
  return answerBody(asked, answering, async (bytes, authorize) => {
    try {
      const input = readJson(bytes);
      const writeKey = isObject(input) ? input['writeKey'] : undefined;
      const caller = authorize(typeof writeKey === 'string' ? writeKey : undefined);
      if (caller === undefined) return refused(UNAUTHORIZED);
      return await createDeletion(readDeletionRequest(input), caller.source, answering);
    } catch (error) {
      return refused(refusalOfJson(error));
    }
  });
}

/** How far a deletion request has come, for whoever may make one. */
export async function findDeletion(
  { headers }: IncomingMessage,
  id: string,
  { keys, deletions }: Answering,
): Promise<Answer> {
  const writeKey = basicUser(headers.authorization);
  if (writeKey === undefined || keys.sourceOf(writeKey) === undefined) return refused(UNAUTHORIZED);
  const record = await deletions.get(id);
  if (record !== undefined) return { status: 200, body: { success: true, ...shownDeletion(record) } };
  return refused({ status: 404, code: 'not-found', message: 'there is no deletion request with this id' });
}

async function createDeletion(
  request: DeletionRequest,
  source: string,
  { deletions, log }: Answering,
): Promise<Answer> {
  try {
    return {
      status: 200,
      body: { success: true, ...shownDeletion(await deletions.create(request)) },
      source,
    };
  } catch (error) {
    if (error instanceof ValidationError) throw error;
    log.error('a deletion request could not be stored', { source, error: textOf(error) });
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
      Object.entries(sources).map(([name, source]) => [
        name,
        { state: stateOf(source), ...source, deliveries: source.deliveries ?? 0 },
      ]),
    ),
  };
}
