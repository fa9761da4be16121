import { endToEndHeaders } from '../../../receiver/response/forwarding.ts';
import type { EditedRequest } from '../../wire.ts';
import { exactText } from '../body/decode.ts';
import type { FullRequest } from '../full-request.ts';

/** A request that is being edited, as texts. */
export interface EditDraft {
  /** Headers as `Name: value`, one per line. */
  readonly headers: string;
  readonly body: string;
  readonly isSigned: boolean;
}

/** Maximum size of an edited body: longer texts make a text field slow. */
const MAX_EDITED_BYTES = 1024 * 1024;

/** Why a body cannot be edited. Undefined if it can. */
export function uneditableReason(body: Uint8Array): string | undefined {
  const isLong = body.length > MAX_EDITED_BYTES;
  if (isLong) return 'The body is longer than 1 MiB: copy it as a capture and edit that.';
  if (exactText(body) === undefined) return 'The body is not valid UTF-8: it cannot be edited as text.';
  return undefined;
}

/** Creates the draft of a received request that is not edited yet. Leaves out the headers that belong to its connection. */
export function draftOf(
  { details, body }: Pick<FullRequest, 'details' | 'body'>,
  isSigned: boolean,
): EditDraft {
  const headers = endToEndHeaders(details.headers.flat()).map(([name, value]) => `${name}: ${value}`);
  return { headers: headers.join('\n'), body: asTyped(exactText(body) ?? ''), isSigned };
}

/** The request to send for a draft. A line without a colon counts as a name, which the inbox rejects with the reason. */
export function editedOf({ headers, body, isSigned }: EditDraft, received: Uint8Array): EditedRequest {
  const text = exactText(received) ?? '';
  const lines = headers.split('\n').filter((line) => line.trim() !== '');
  return {
    headers: lines.map((line) => {
      const [, name = line, value = ''] = /^([^:]*):(.*)$/.exec(line) ?? [];
      return [name.trim(), value.trim()];
    }),
    body: body === asTyped(text) ? text : body,
    isSigned,
  };
}

/** The text with the line breaks of a text field (HTML, 4.10.11). An unedited body keeps its own line breaks. */
function asTyped(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n');
}
