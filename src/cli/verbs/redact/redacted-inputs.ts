import type { Imported } from '../../../capture/import/imported.ts';
import { parseJsonOrUndefined } from '../../../message/json/batch-document.ts';
import { isJsonObject, isMessageType } from '../../../message/types.ts';
import { isHar } from '../../../capture/read-capture.ts';
import { readEntries } from '../../../replay/reading/read-entries.ts';
import type { ReplayEntry } from '../../../replay/reading/replay-entry.ts';
import type { Input } from '../../../replay/reading/inputs.ts';
import { errorOfInput, importedRequests, unpackedChunks } from '../../flags/imported-requests.ts';
import type { Io } from '../../io.ts';

/** Enough to have the first message whole. */
const HEAD_BYTES = 64 * 1024;

/** The content of an input: requests, or messages without requests around them. */
export type RedactedInput =
  | { readonly kind: 'requests'; readonly requests: AsyncIterable<Imported> }
  | { readonly kind: 'messages'; readonly entries: AsyncIterable<readonly ReplayEntry[]> };

/** Recognizes by its first bytes what an input has. */
export async function redactedInput(input: Input, io: Io): Promise<RedactedInput> {
  const iterator = unpackedChunks(input, io.signal)[Symbol.asyncIterator]();
  const parts: Uint8Array[] = [];
  for (let bytes = 0; bytes < HEAD_BYTES; bytes += parts.at(-1)?.length ?? 0) {
    const next = await iterator.next().catch((error: unknown) => {
      if (io.signal.aborted) return { done: true } as const;
      throw errorOfInput(error, input.name);
    });
    if (next.done) break;
    parts.push(next.value);
  }
  const head = Buffer.concat(parts);
  const chunks = (async function* () {
    if (head.length > 0) yield head;
    yield* { [Symbol.asyncIterator]: () => iterator };
  })();
  if (await beginsWithMessage(head)) {
    const entries = readEntries({ name: input.name, open: () => chunks }, io.signal);
    return { kind: 'messages', entries };
  }
  return { kind: 'requests', requests: importedRequests(input, io, { chunks }) };
}

async function beginsWithMessage(head: Uint8Array): Promise<boolean> {
  if (isHar(head)) return false;
  const open = async function* () {
    yield await Promise.resolve(head);
  };
  for await (const [entry] of readEntries({ name: '', open })) {
    const value = entry?.kind === 'message' ? parseJsonOrUndefined(entry.bytes) : undefined;
    return isJsonObject(value) && isMessageType(value['type']);
  }
  return false;
}
