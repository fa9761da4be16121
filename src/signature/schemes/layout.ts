import type { SignatureScheme, SignedFields } from './scheme.ts';

/** A field of a header's template. */
export type HeaderField = 'signature' | keyof SignedFields;

/** A text and the field that follows it. */
export interface HeaderPart {
  readonly text: string;
  readonly field: HeaderField;
}

export interface HeaderLayout {
  /** As it is sent. */
  readonly name: string;
  readonly lowerName: string;
  readonly parts: readonly HeaderPart[];
}

/** A scheme's templates, taken apart. */
export interface SchemeLayout {
  readonly headers: readonly HeaderLayout[];
  /** The one that has the signature. */
  readonly signatureHeader: HeaderLayout;
  /** The template of what is signed before the body, and after it. */
  readonly before: string;
  readonly after: string;
  /** Characters between the fields of what is signed; an id with one of them could be read as two fields. */
  readonly separators: readonly string[];
  readonly hasId: boolean;
  readonly hasTimestamp: boolean;
}

const known = new WeakMap<SignatureScheme, SchemeLayout>();

/** Takes a scheme's templates apart, once. The scheme is a right one (see `checkScheme`). */
export function layoutOf(scheme: SignatureScheme): SchemeLayout {
  const found = known.get(scheme) ?? readLayout(scheme);
  known.set(scheme, found);
  return found;
}

/** The names of schemes, as `--scheme` takes them. */
export function schemeListText(schemes: readonly SignatureScheme[]): string {
  return schemes.map(({ name }) => name).join(',');
}

/** The names of the headers that have the signatures, in a sentence. */
export function signatureHeaderNames(
  schemes: readonly SignatureScheme[],
  joint: 'and' | 'or' = 'and',
): string {
  return schemes.map((scheme) => layoutOf(scheme).signatureHeader.name).join(` ${joint} `);
}

function readLayout({ headers: templates, separator, signs }: SignatureScheme): SchemeLayout {
  const headers = Object.entries(templates).map(([name, template]) => ({
    name,
    lowerName: name.toLowerCase(),
    parts: partsOf(template, template.includes('{signature}') ? separator : undefined),
  }));
  const [first] = headers;
  const signatureHeader = headers.find(({ parts }) => parts.some(hasSignature)) ?? first;
  if (signatureHeader === undefined) throw new TypeError('A scheme without a header was not rejected');
  const [before = '', after = ''] = signs.split('{body}');
  return {
    headers,
    signatureHeader,
    before,
    after,
    separators: separatorsOf(signs),
    hasId: signs.includes('{id}'),
    hasTimestamp: signs.includes('{timestamp}'),
  };
}

function separatorsOf(signs: string): readonly string[] {
  const between = signs.split(/\{\w+\}/).slice(1, -1);
  return [...new Set(between.join('').replaceAll(/[\w-]/g, ''))];
}

function hasSignature({ field }: HeaderPart): boolean {
  return field === 'signature';
}

/** A part of a header's template: a text without braces, and a field at its end. */
const PART = /^([^{}]*)\{(signature|timestamp|id)\}$/;

/** The parts of a header's template; empty when it is not one. */
export function partsOf(template: string, separator: string | undefined): readonly HeaderPart[] {
  const texts = separator === undefined ? [template] : template.split(separator);
  const parts = texts.map((each) => PART.exec(each)).filter((each) => each !== null);
  if (parts.length !== texts.length) return [];
  return parts.map(([, text = '', field]) => ({ text, field: field as HeaderField })); // as the pattern says
}

/** Puts fields into a template of what is signed. */
export function withFields(template: string, { id, timestamp }: SignedFields): string {
  // A function, since `$&` in an id would be the match.
  return template.replace(/\{(id|timestamp)\}/g, (_, field: string) => (field === 'id' ? id : timestamp));
}
