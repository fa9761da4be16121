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
  const known = compiler.RULES.all;
  for (const [key, value] of Object.entries(schema)) {
    if (!Object.hasOwn(known, key) && compiler.RULES.keywords[key] !== true) {
      const near = mayBeNote(key) ? undefined : closest(key, Object.keys(compiler.RULES.keywords));
      if (near !== undefined) return `unknown keyword ${meant(key, near)}${at}`;
    }
    const { formats } = compiler;
    if (key === 'format' && typeof value === 'string' && formats[value] === undefined) {
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

/** Whether a key is likely a note: short keys resemble keywords by chance (`note`, `not`), and OpenAPI has `example`. */
function mayBeNote(key: string): boolean {
  return key.length < 6 || key === 'example' || key.startsWith('x-');
}

function meant(word: string, near: string): string {
  return `${JSON.stringify(word)} (is ${JSON.stringify(near)} meant?)`;
}
