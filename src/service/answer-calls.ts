import type { MessageType } from '../message/types.ts';
import { type ServiceResponse, refused } from './answer.ts';
import { answerBody, type Answering, type Asked } from './answer-body.ts';
import { UNAUTHORIZED } from './authentication.ts';
import { readBatch, readSingle } from './calls.ts';
import { errorFields } from './log.ts';
import { OVERLOADED, type IngestRejection, refusalOfStore } from './refusal.ts';
import { sortCalls, type RejectedCall, type Sorted } from './sort-calls.ts';

/** `/v1/batch` and `/v1/import`, or with a type `/v1/track` and the like. Undefined: nobody waits for an answer. */
export async function answerCalls(
  asked: Asked,
  type: MessageType | undefined,
  answering: Answering,
): Promise<ServiceResponse | undefined> {
  const answer = await takeCalls(asked, type, answering);
  if (type !== undefined && answer?.source !== undefined && isForGood(answer))
    answering.metrics.ingested(answer.source, { accepted: 0, duplicate: 0, rejected: 1 });
  return answer;
}

/** Of a single call: it is the caller's fault, and does not pass by itself. */
function isForGood({ status }: ServiceResponse): boolean {
  return status === 400 || status === 413;
}

async function takeCalls(
  asked: Asked,
  type: MessageType | undefined,
  answering: Answering,
): Promise<ServiceResponse | undefined> {
  return answerBody(asked, answering, async (bytes, authorize) => {
    const read = type === undefined ? readBatch(bytes) : readSingle(bytes, type);
    if (!read.ok) return refused(read.refusal, authorize(undefined)?.source);
    const caller = authorize(read.calls.writeKey);
    if (caller === undefined) return refused(UNAUTHORIZED);
    if (!asked.share.grow(read.calls.addedBytes)) return refused(OVERLOADED, caller.source);
    const { clock, newId } = answering;
    const sorted = sortCalls(read.calls.items, {
      ...caller,
      newId,
      now: clock.now(),
      requestBytes: bytes.length,
    });
    const [single] = sorted.rejected;
    if (type !== undefined && single !== undefined) return refused(refusalOfSingle(single), caller.source);
    return store(caller.source, sorted, answering);
  });
}

async function store(source: string, sorted: Sorted, { ingest, log }: Answering): Promise<ServiceResponse> {
  try {
    await ingest.store(source, sorted);
  } catch (error) {
    log.error('messages could not be stored', { source, ...errorFields(error) });
    return refused(refusalOfStore(error), source);
  }
  const rejected = sorted.rejected.map(({ index, code, message }) => ({ index, code, message }));
  if (rejected.length === 0) return { status: 200, body: { success: true }, source };
  log.warn('messages of a batch were rejected', {
    source,
    count: rejected.length,
    first: rejected[0]?.message,
  });
  return { status: 200, body: { success: true, rejected }, source };
}

function refusalOfSingle({ code, message, hint }: RejectedCall): IngestRejection {
  return { status: code === 'too-large' ? 413 : 400, code, message, hint };
}
