import { Ajv, type ErrorObject, type FuncKeywordDefinition, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { InputError } from '../../errors.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';
import { isObject } from '../../validate-options.ts';
import { ruleLabel, type PlanRule } from '../rule.ts';
import { plainSchema } from '../plain-schema.ts';
import { expandedSize, schemasOf } from '../schema-parts.ts';
import { planPattern } from './plan-pattern.ts';
import { schemaDifference } from './schema-difference.ts';
import { findSchemaTypo } from './schema-typo.ts';

/** Returns the errors of a value; none if it matches. */
export type SchemaValidator = (value: JsonValue) => readonly ErrorObject[];

type Draft = 'draft-07' | '2020-12';

/** Compiles the schemas of rules. */
export class SchemaCompiler {
  readonly #compilers: Partial<Record<Draft, Ajv>> = {};

  /** Compiles the schema of a rule. Throws InputError if it is not a schema, or if it refers to another file. */
  compile(rule: PlanRule): SchemaValidator {
    try {
      const draft = draftOf(rule);
      const compiler = (this.#compilers[draft] ??= compilerOf(draft));
      return compile(compiler, rule);
    } catch (cause) {
      throw cause instanceof InputError ? cause : uncompiled(cause, rule);
    }
  }
}

/**
 * Creates a compiler that ignores unknown keywords and formats, because `findSchemaTypo` reports misspelled ones with their
 * place. The compiler fetches nothing, so a remote $ref does not compile.
 */
function compilerOf(draft: Draft): Ajv {
  const errors = { allErrors: true, verbose: true, logger: false } as const;
  const options = {
    ...errors,
    strict: false,
    ownProperties: true,
    code: { regExp, optimize: false },
  } as const;
  const compiler = draft === '2020-12' ? new Ajv2020(options) : new Ajv(options);
  formats.default(compiler);
  compiler.removeKeyword('uniqueItems');
  compiler.addKeyword(UNIQUE_ITEMS);
  return compiler;
}

/** The keyword `uniqueItems` in linear time. The one of ajv compares each pair of items, so a message could take seconds. */
const UNIQUE_ITEMS: FuncKeywordDefinition = {
  keyword: 'uniqueItems',
  type: 'array',
  schemaType: 'boolean',
  error: { message: 'must NOT have duplicate items' },
  validate: (isWanted: boolean, items: readonly JsonValue[]) =>
    !isWanted || new Set(items.map(canonicalJson)).size === items.length,
};

/** Returns a value as JSON with the members of each object in the order of their keys. */
function canonicalJson(value: JsonValue): string {
  if (isJsonArray(value)) return `[${value.map(canonicalJson).join(',')}]`;
  if (!isJsonObject(value)) return JSON.stringify(value);
  const keys = Object.keys(value).toSorted();
  return `{${keys.map((key) => `${JSON.stringify(key)}:${canonicalJson(value[key] ?? null)}`).join(',')}}`;
}

/**
 * Compiles the patterns of schemas with a time limit, because they run on untrusted texts. Ajv uses two patterns with the same
 * `toString` as one. It needs `code` only to write validators to a file.
 */
const regExp = Object.assign(
  (source: string, flags: string) => {
    return { ...planPattern(source, flags), toString: () => `/${source}/${flags}` };
  },
  { code: 'new RegExp' },
);

/**
 * Keywords that only draft 2020-12 has. A schema that uses one without naming its draft counts as 2020-12, because draft 07
 * would ignore the keyword.
 */
const ONLY_2020 =
  /"(?:prefixItems|unevaluated(?:Properties|Items)|dependent(?:Required|Schemas)|minContains|\$(?:dynamicRef|anchor))"\s*:/;

/** Recognizes the URL of a supported draft in its usual spellings: with http or https, with or without a final #. */
const DRAFT = /^https?:\/\/json-schema\.org\/(?:draft\/(2020-12)|(draft-07))\/schema#?$/;

function draftOf({ schema, ...rule }: PlanRule): Draft {
  const named = isJsonObject(schema) ? schema['$schema'] : undefined;
  if (named === undefined) return ONLY_2020.test(JSON.stringify(schema)) ? '2020-12' : 'draft-07';
  const [, later, seven] = (typeof named === 'string' && DRAFT.exec(named)) || [];
  if (later !== undefined || seven !== undefined) return later === undefined ? 'draft-07' : '2020-12';
  const got = JSON.stringify(named).slice(0, 80);
  throw new InputError(`Expected \`$schema\`${atRule(rule)} to be draft 07 or 2020-12, got ${got}`, {
    file: rule.file,
    hint: 'remove it, or write "http://json-schema.org/draft-07/schema#"',
  });
}

/** Maximum number of errors to describe: a list can have thousands of wrong items. */
const MOST_ERRORS = 100;

/** Maximum number of schemas that a rule may have with its references followed: two in each definition double it. */
const MOST_SCHEMAS = 100_000;

function compile(compiler: Ajv, rule: PlanRule): SchemaValidator {
  const schema = isJsonObject(rule.schema) ? plainSchema(rule.schema) : rule.schema;
  // Rejects $async schemas, because their validators would return a promise.
  if (isObject(schema) && schema['$async'] !== undefined) throw new Error('$async is not supported');
  const problem = compiler.validateSchema(schema) === true ? undefined : compiler.errors?.[0];
  if (problem !== undefined) {
    const { path, expected, got } = schemaDifference(problem);
    throw new Error(
      `expected ${expected}${path === 'message' ? '' : ` at ${path}`}, got ${got.slice(0, 80)}`,
    );
  }
  const typo = findSchemaTypo(schema, compiler);
  if (typo !== undefined) throw new Error(typo);
  if (expandedSize(schema) > MOST_SCHEMAS) {
    throw new Error(
      `its references lead to more than ${MOST_SCHEMAS} schemas, which takes too long for a message`,
    );
  }
  const compiled = (): ValidateFunction => compiler.compile(schema as JsonObject); // the types of ajv leave booleans out of this overload
  let validate: ValidateFunction | undefined;
  if (!compilesSurely(schema)) {
    validate = compiled();
    validate({}); // finds most cycles of references before any message arrives
  }
  return (value) => {
    validate ??= compiled();
    try {
      return validate(value) ? [] : (validate.errors ?? []).slice(0, MOST_ERRORS);
    } catch (cause) {
      if (cause instanceof TypeError) return [{ ...INCOMPARABLE, data: value }];
      throw cause instanceof RangeError ? uncompiled(cause, rule) : cause;
    }
  };
}

/**
 * Whether a schema that is valid also compiles, so that this can wait for the first message of its event: it has no reference,
 * and its patterns compile. Compiling takes 5 ms, and a plan has hundreds of events. Throws SyntaxError for a wrong pattern.
 */
function compilesSurely(schema: JsonValue): boolean {
  if (!isJsonObject(schema)) return true;
  return Object.entries(schema).every(([key, value]) => {
    if (/^\$(?:ref|dynamicRef|recursiveRef|id|anchor|dynamicAnchor)$|^nullable$/.test(key)) return false;
    if (key === 'pattern' && typeof value === 'string') planPattern(value, 'u');
    if (key === 'patternProperties' && isJsonObject(value)) {
      for (const source of Object.keys(value)) planPattern(source, 'u');
    }
    return schemasOf(key, value).every(([, inner]) => compilesSurely(inner));
  });
}

/** The error of a message that the validator cannot compare, because it calls these methods of the objects. */
const INCOMPARABLE: ErrorObject = {
  keyword: 'comparable',
  instancePath: '',
  schemaPath: '',
  params: {},
  message: 'must have no property named toString or valueOf',
};

function uncompiled(cause: unknown, rule: PlanRule): InputError {
  const text = cause instanceof Error ? cause.message : String(cause);
  const why = cause instanceof RangeError ? 'a $ref leads back to its own schema' : text;
  return new InputError(`Expected a JSON Schema that compiles${atRule(rule)}: ${why}`, {
    file: rule.file,
    cause,
    hint: /can't resolve reference/.test(why)
      ? 'put the target of $ref into the same schema, or under $defs of the file: nothing is fetched'
      : 'correct the schema; draft 07 and 2020-12 are supported, and notes whose key starts with x-',
  });
}

/** Names the rule and its place in an error: ` at track "Signup" (/rules/3)`. Empty for a schema that is the whole file. */
function atRule(rule: Omit<PlanRule, 'schema'>): string {
  return rule.pointer === '' ? '' : ` at ${ruleLabel(rule)} (${rule.pointer})`;
}
