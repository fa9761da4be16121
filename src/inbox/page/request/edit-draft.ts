import { endToEndHeaders } from '../../../receiver/response/forwarding.ts';
import type { EditedRequest } from '../../wire.ts';
import type { ComparedRequest } from './difference.ts';

/** A request while it is edited, as two texts. */
export interface EditDraft {
  /** A header a line. */
  readonly headers: string;
  readonly body: string;
  readonly isSigned: boolean;
}

/** What is longer makes a text field slow. */
const MAX_EDITED_BYTES = 1024 * 1024;

/** Why a body cannot be edited; undefined if it can. */
export function uneditableReason(body: Uint8Array): string | undefined {
  const isLong = body.length > MAX_EDITED_BYTES;
  if (isLong) return 'The body is longer than 1 MiB: copy it as a capture and edit that.';
  if (textOf(body) === undefined) return 'The body is not valid UTF-8: it cannot be edited as text.';
  return undefined;
}

/** The draft of a request as it came, without the headers of its connection. */
export function draftOf(
  { details, body }: Pick<ComparedRequest, 'details' | 'body'>,
  isSigned: boolean,
): EditDraft {
  const headers = endToEndHeaders(details.headers.flat()).map(([name, value]) => `${name}: ${value}`);
  return { headers: headers.join('\n'), body: asTyped(textOf(body) ?? ''), isSigned };
}

/** What is sent for a draft. A line without a colon is a name, which the inbox rejects with the reason. */
export function editedOf({ headers, body, isSigned }: EditDraft, came: Uint8Array): EditedRequest {
  const text = textOf(came) ?? '';
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

/** A text field has one kind of line break (HTML, 4.10.11): a body that was not edited keeps its own. */
function asTyped(text: string): string {
  return text.replaceAll(/\r\n?/g, '\n');
}

function textOf(body: Uint8Array): string | undefined {
  try {
    return new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body);
  } catch {
    return undefined;
  }
}
