import type { SignatureScheme, SignedFields } from './scheme.ts';

/** Name of a placeholder in the template of a header. */
export type HeaderField = 'signature' | keyof SignedFields;

/** A part of a header's template: a text and the field that follows it. */
export interface HeaderPart {
  readonly text: string;
  readonly field: HeaderField;
}

/** The parsed template of a header. */
export interface HeaderLayout {
  /** Name of the header, spelled as it is sent. */
  readonly name: string;
  readonly lowerName: string;
  readonly parts: readonly HeaderPart[];
}

/** The parsed templates of a scheme. */
export interface SchemeLayout {
  readonly headers: readonly HeaderLayout[];
  /** The header with the signature. */
  readonly signatureHeader: HeaderLayout;
  /** Template of the text that is signed before the body. `after` is the template of the text after the body. */
  readonly before: string;
  readonly after: string;
  /**
   * Characters of `signs` between the signed fields. An id must not contain any of them, because bytes could move from one
   * field to the next.
   */
  readonly separators: readonly string[];
  readonly hasId: boolean;
  readonly hasTimestamp: boolean;
}

const known = new WeakMap<SignatureScheme, SchemeLayout>();

/** Parses the templates of a valid scheme (see `schemeProblem`), once per scheme. */
export function layoutOf(scheme: SignatureScheme): SchemeLayout {
  const found = known.get(scheme) ?? readLayout(scheme);
  known.set(scheme, found);
  return found;
}

/** Names of schemes, separated by commas like the value of `--scheme`. */
export function schemeListText(schemes: readonly SignatureScheme[]): string {
  return schemes.map(({ name }) => name).join(',');
}

/** Names of the headers with the signatures, for a sentence. */
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
  const signatureHeader = headers.find(({ name }) => templates[name]?.includes('{signature}')) ?? first;
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

/** Pattern of a part of a header's template: a text without braces, and a placeholder at its end. */
const PART = /^([^{}]*)\{(signature|timestamp|id)\}$/;

/** Parses a header's template; empty if it is invalid. */
export function partsOf(template: string, separator: string | undefined): readonly HeaderPart[] {
  const texts = separator === undefined ? [template] : template.split(separator);
  const parts = texts.flatMap((each) => {
    const [, text = '', field] = PART.exec(each) ?? [];
    return field === undefined ? [] : { text, field: field as HeaderField }; // the pattern allows only these
  });
  return parts.length === texts.length ? parts : [];
}

/** Replaces the placeholders of a template of signed text, `{id}` and `{timestamp}`, by their values. */
export function withFields(template: string, { id, timestamp }: SignedFields): string {
  // The replacement is a function, because in a text `$&` from an id would insert the matched placeholder.
  return template.replace(/\{(id|timestamp)\}/g, (_, field: string) => (field === 'id' ? id : timestamp));
}
