import { printable } from '../../redact.ts';
import { formatDuration } from '../../duration.ts';
import type { ReasonCode } from '../reasons.ts';
import { hasHeader, headerValues, type HeaderList } from './header-list.ts';
import { layoutOf, type HeaderField, type HeaderLayout } from './layout.ts';
import type { SignatureScheme, SignedFields } from './scheme.ts';

/** The signature of one scheme in the headers of a request. */
export interface PresentedSignature {
  /** Value of the signature header as received. Several such headers are joined with commas. */
  readonly value: string;
  /** Signatures that the header value contains. The header matches if one of them does. */
  readonly signatures: readonly string[];
  /** Values of the signed fields in the headers. A missing field has an empty text. */
  readonly fields: SignedFields;
  /**
   * Why the signature is invalid, whatever its digest is: a missing or malformed header. Undefined if only the digest
   * matters.
   */
  readonly problem?: HeaderProblem;
}

export interface HeaderProblem {
  readonly code: ReasonCode;
  /** The problem of the headers as a sentence, without its capital letter and full stop. */
  readonly found: string;
  readonly fix: string;
}

/**
 * Reads the headers of a scheme. Undefined if the request has none of them. If only the signature is missing, the result has
 * a problem, because the signature may have been removed.
 */
export function presentedSignature(
  scheme: SignatureScheme,
  headers: HeaderList,
): PresentedSignature | undefined {
  const { headers: layouts, signatureHeader } = layoutOf(scheme);
  const firstCame = layouts.find(({ lowerName }) => hasHeader(headers, lowerName));
  if (firstCame === undefined) return undefined;
  const read: ReadFields = { signature: [], timestamp: [], id: [] };
  const problems: HeaderProblem[] = [];
  for (const layout of layouts) {
    const values = headerValues(headers, layout.lowerName);
    if (values.length !== 1) problems.push(wrongCount(layout, values.length, firstCame));
    const [first] = values;
    const isRead = first === undefined || readHeader(layout, scheme, first, read);
    if (!isRead) problems.push(unreadablePart(scheme, layout));
  }
  const [id = '', timestamp = ''] = [read.id[0], read.timestamp[0]];
  const problem = problems[0] ?? fieldProblem(scheme, read);
  return {
    value: headerValues(headers, signatureHeader.lowerName).join(', '),
    signatures: read.signature,
    fields: { id, timestamp },
    ...(problem !== undefined && { problem }),
  };
}

type ReadFields = Readonly<Record<HeaderField, string[]>>;

/**
 * Reads the parts of a header into `read`. Returns whether the header has the form of the scheme. Ignores unknown parts of a
 * list, like the vendors' own libraries.
 */
function readHeader(
  { parts }: HeaderLayout,
  { separator }: SignatureScheme,
  value: string,
  read: ReadFields,
): boolean {
  const isList = separator !== undefined && parts.some(({ field }) => field === 'signature');
  let isRead = isList;
  for (const text of isList ? value.split(separator) : [value]) {
    const part = parts.find((each) => text.startsWith(each.text));
    if (part === undefined) continue;
    isRead = true;
    const field = text.slice(part.text.length);
    // Only the text up to a comma is the signature, because digests have no commas.
    read[part.field].push(isList && part.field === 'signature' ? field.replace(/,.*$/s, '') : field);
  }
  return isRead;
}

function unreadablePart(scheme: SignatureScheme, { name, parts }: HeaderLayout): HeaderProblem {
  const forms = parts.map(({ text }) => `\`${text}\``).join(' or ');
  return {
    code: 'missing-prefix',
    found: `a part of ${name} is not in the form of ${scheme.name}: it begins with none of ${forms}`,
    fix: `Send it in this form: ${name}: ${scheme.headers[name]}`,
  };
}

function wrongCount({ name }: HeaderLayout, count: number, came: HeaderLayout): HeaderProblem {
  return count === 0
    ? {
        code: 'missing-header',
        found: `${name} is missing, though ${came.name} came, which belongs to it`,
        fix: `Send ${name} with each request, and let proxies pass it on; hooks verify takes it by -H '${name}: …'`,
      }
    : {
        code: 'no-match',
        found: `the request has ${count} ${name} headers, and only one can count`,
        fix: `Send ${name} once: look for a proxy, or a second library, that signs again`,
      };
}

function fieldProblem(
  scheme: SignatureScheme,
  { signature, timestamp, id }: ReadFields,
): HeaderProblem | undefined {
  const { hasId, hasTimestamp, headers, separators } = layoutOf(scheme);
  const malformed = (found: string): HeaderProblem => {
    const form = headers.map(({ name }) => `${name}: ${scheme.headers[name]}`).join(', ');
    return {
      code: 'malformed-header',
      found,
      fix: `Send the headers of ${scheme.name} in its form: ${form}`,
    };
  };
  if (hasTimestamp && timestamp.length !== 1) {
    return malformed(timestamp.length === 0 ? 'there is no timestamp' : 'there are several timestamps');
  }
  if (hasTimestamp && !TIMESTAMP.test(timestamp[0] ?? '')) return timestampProblem(timestamp[0] ?? '');
  if (hasId && (id.length !== 1 || id[0] === '')) return malformed('there is no id');
  const stray = hasId ? separators.find((each) => id[0]?.includes(each)) : undefined;
  if (stray !== undefined) return malformed(`the id has \`${stray}\` in it, which separates what is signed`);
  if (signature.length > 0) return undefined;
  const { name, parts } = layoutOf(scheme).signatureHeader;
  const text = parts.find(({ field }) => field === 'signature')?.text ?? '';
  return {
    code: 'missing-prefix',
    found: `no signature in ${name} begins with \`${text}\``,
    fix: `Write ${text} before the signature: ${name}: ${scheme.headers[name]}`,
  };
}

/**
 * Unix time in seconds, from 1970 to 5138. Without sign or leading zeros, because another spelling would be another signed
 * text.
 */
const TIMESTAMP = /^(?:0|[1-9]\d{0,10})$/;

const SECONDS_FIX = 'Send and sign the Unix time in seconds: Math.floor(Date.now() / 1000)';

function timestampProblem(timestamp: string): HeaderProblem {
  const isMs = /^[1-9]\d{12}$/.test(timestamp);
  const found = isMs
    ? `the timestamp ${timestamp} is in milliseconds, and seconds are expected`
    : `the timestamp \`${printable(timestamp, 40)}\` is no Unix time in seconds`;
  return { code: isMs ? 'timestamp-unit' : 'malformed-header', found, fix: SECONDS_FIX };
}

/** The problem of a signature's age at `nowMs`; undefined within the tolerance, or if the scheme has no tolerance. */
export function ageProblem(
  { name, tolerance }: SignatureScheme,
  { fields: { timestamp } }: PresentedSignature,
  nowMs: number,
): HeaderProblem | undefined {
  if (tolerance === undefined || !TIMESTAMP.test(timestamp)) return undefined;
  const age = Math.floor(nowMs / 1000) - Number(timestamp);
  if (Math.abs(age) <= tolerance) return undefined;
  const size = formatDuration(Math.abs(age) * 1000);
  // Time zones are half an hour or hours apart.
  const offset = Math.abs(age) % 1_800;
  const isZone =
    Math.abs(age) > 1_500 && Math.abs(age) < 52_000 && Math.min(offset, 1_800 - offset) <= tolerance;
  const zone = isZone ? ', as a local time taken for UTC is' : '';
  // Recognizes a time in seconds that was divided by 1000 again, and so is a date in January 1970.
  const isUnit = Number(timestamp) > 0 && Math.abs(nowMs / 1_000_000 - Number(timestamp)) < 1_000_000;
  if (isUnit) {
    const found = `the timestamp ${timestamp} is a thousandth of the Unix time in seconds`;
    return { code: 'timestamp-unit', found, fix: SECONDS_FIX };
  }
  return {
    code: 'old-timestamp',
    found: `its timestamp is ${size} ${age > 0 ? 'old' : 'in the future'}${zone}, and ${name} allows ${tolerance}s`,
    fix: 'Sign each attempt at the time when it is sent, and keep the clocks of both sides right; hooks verify --ignore-timestamp checks the rest of an old request',
  };
}
