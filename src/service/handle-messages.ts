import { readTraceContext } from '../message/trace-context.ts';
import type { MessageType } from '../message/types.ts';
import { rejectionResponse, type ServiceResponse } from './request/respond.ts';
import { readRequest, type HandlerContext, type IngestRequest } from './request/read-request.ts';
import { UNAUTHORIZED } from './request/authentication.ts';
import { readBatch, readSingle } from './ingest/read-messages.ts';
import { errorFields } from './log.ts';
import { OVERLOADED, storeRejection, type IngestRejection } from './request/rejection.ts';
import { sortMessages, type RejectedBatchItem, type SortedMessages } from './ingest/sort-messages.ts';

/**
 * Handles `/v1/batch` and `/v1/import`, or with a type `/v1/track` and similar paths. Undefined if the sender disconnected.
 */
export async function handleMessages(
  ingestRequest: IngestRequest,
  type: MessageType | undefined,
  context: HandlerContext,
): Promise<ServiceResponse | undefined> {
  const response = await ingestMessages(ingestRequest, type, context);
  if (type !== undefined && response?.source !== undefined && isPermanent(response)) {
    context.metrics.ingested(response.source, { accepted: 0, duplicate: 0, rejected: 1 });
  }
  return response;
}

/** Whether the caller must change a rejected message, because a retry would be rejected too. */
function isPermanent({ status }: ServiceResponse): boolean {
  return status === 400 || status === 413;
}

async function ingestMessages(
  ingestRequest: IngestRequest,
  type: MessageType | undefined,
  context: HandlerContext,
): Promise<ServiceResponse | undefined> {
  const request = await readRequest(ingestRequest, context);
  if (!request.ok) return request.response;
  const { bytes, authorize } = request;
  const read = type === undefined ? readBatch(bytes) : readSingle(bytes, type);
  if (!read.ok) return rejectionResponse(read.rejection, authorize(undefined)?.source);
  const { items, writeKey, addedBytes } = read.messages;
  const caller = authorize(writeKey);
  if (caller === undefined) return rejectionResponse(UNAUTHORIZED);
  if (!ingestRequest.share.grow(addedBytes)) return rejectionResponse(OVERLOADED, caller.source);
  const now = context.clock.now();
  const trace = readTraceContext(ingestRequest.request.headers);
  const guard = context.planGuards?.[caller.source];
  const sorted = sortMessages(items, { ...caller, now, requestBytes: bytes.length, trace, guard });
  const [single] = sorted.rejected;
  if (type !== undefined && single !== undefined) {
    // Kept like one of a batch, because SDKs for browsers send single messages and drop them after a 400.
    const failed = await failureToStore(
      caller.source,
      () => context.ingest.keep(caller.source, [single]),
      context.log,
    );
    return failed ?? rejectionResponse(singleRejection(single), caller.source);
  }
  return storeMessages(caller.source, sorted, context);
}

async function storeMessages(
  source: string,
  sorted: SortedMessages,
  { ingest, log, rejectionLimit }: HandlerContext,
): Promise<ServiceResponse> {
  const failed = await failureToStore(source, () => ingest.store(source, sorted), log);
  if (failed !== undefined) return failed;
  const rejected = sorted.rejected.map(({ index, code, message }) => ({ index, code, message }));
  if (rejected.length === 0) return { status: 200, body: { success: true }, source };
  const [first] = rejected;
  if (rejectionLimit.getsLine({ status: 200, code: first?.code, source })) {
    log.warn('messages of a batch were rejected', { source, count: rejected.length, first: first?.message });
  }
  return { status: 200, body: { success: true, rejected }, source };
}

/** Stores messages. Returns the response for a failure, after which the caller must try again. */
async function failureToStore(
  source: string,
  store: () => Promise<void>,
  log: HandlerContext['log'],
): Promise<ServiceResponse | undefined> {
  try {
    await store();
    return undefined;
  } catch (error) {
    log.error('messages could not be stored', { source, ...errorFields(error) });
    return rejectionResponse(storeRejection(error), source);
  }
}

function singleRejection({ code, message, hint }: RejectedBatchItem): IngestRejection {
  return { status: code === 'too-large' ? 413 : 400, code, message, hint };
}
