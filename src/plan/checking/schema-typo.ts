import type { Ajv } from 'ajv';
import { formatPath, type PathStep } from '../../message/json/json-path.ts';
import { isJsonObject, type JsonValue } from '../../message/types.ts';
import { closest } from '../../suggest.ts';
import { schemasOf } from '../schema-parts.ts';

/**
 * Describes the first misspelled keyword or format of a schema: an unknown one that resembles a known one. A misspelled
 * keyword would be ignored, and so match everything. Other unknown keywords are notes (`owner`, `labels` of a tracking
 * plan), which JSON Schema allows. Undefined if nothing is misspelled.
 */
export function findSchemaTypo(
  schema: JsonValue,
  compiler: Ajv,
  steps: readonly PathStep[] = [],
): string | undefined {
  if (!isJsonObject(schema)) return undefined;
  const at = steps.length === 0 ? '' : ` at ${formatPath(steps)}`;
  for (const [key, value] of Object.entries(schema)) {
    const keyword = meantKeyword(key, value, compiler);
    if (keyword !== undefined) return `unknown keyword ${meant(key, keyword)}${at}`;
    const { formats } = compiler;
    if (
      key === 'format' &&
      typeof value === 'string' &&
      formats[value] === undefined &&
      !UNTESTED.has(value)
    ) {
      const near = closest(value, Object.keys(formats));
      if (near !== undefined) return `unknown format ${meant(value, near)}${at}`;
    }
    for (const [step, inner] of schemasOf(key, value)) {
      const typo = findSchemaTypo(inner, compiler, [...steps, key, ...step]);
      if (typo !== undefined) return typo;
    }
  }
  return undefined;
}

/** Formats of the standard that the validator does not test. */
const UNTESTED: ReadonlySet<string> = new Set(['iri', 'iri-reference', 'idn-email', 'idn-hostname']);

/** Keywords that notes resemble by chance (`cost`, `note`, `ids`). */
const SHORT: ReadonlySet<string> = new Set(['const', 'not', 'if']);

/**
 * Finds the keyword that an unknown key means: a near one that rejects messages, and whose value the value of the key can
 * be. Other unknown keys are notes, such as `note: "new"` or `example: 5`.
 */
function meantKeyword(key: string, value: JsonValue, compiler: Ajv): string | undefined {
  const { all, keywords } = compiler.RULES;
  if (keywords[key] === true || key.startsWith('x-')) return undefined;
  const candidates = Object.keys(all).filter((each) => !SHORT.has(each));
  const near = closest(key, candidates);
  if (near === undefined || compiler.validateSchema({ [near]: value }) !== true) return undefined;
  if (typeof value !== 'string') return near;
  const isMeant = {
    $ref: value.startsWith('#'),
    format: compiler.formats[value] !== undefined,
  }[near];
  return isMeant === false ? undefined : near;
}

function meant(word: string, near: string): string {
  return `${JSON.stringify(word)} (is ${JSON.stringify(near)} meant?)`;
}
