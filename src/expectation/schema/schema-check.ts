import { Ajv, type ErrorObject } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { isObject } from '../../validate-options.ts';
import { InputError } from '../../errors.ts';
import { boundedRegExp } from '../../message/bounded-regexp.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';
import { closest } from '../../suggest.ts';
import { schemaDifference } from './schema-difference.ts';
import { findSchemaTypo } from './schema-typo.ts';
import { messageFacts } from '../../receiver/messages/messages-of.ts';
import type { ReceivedMessage } from '../../receiver/messages/tracking-call.ts';
import {
  cameText,
  differingMessage,
  foundValue,
  type ArrivedCount,
  type ArrivedMessage,
  type DifferingMessage,
  type ExpectationResult,
  type MessageCheck,
  type MessageDifference,
} from '../expectation-result.ts';

/** Maximum number of messages to show, and of differences of one message. */
const MAX_SHOWN = 10;

/** Expects that every message matches the schema of its event or type. */
export class SchemaCheck implements MessageCheck {
  readonly #schemas: MessageSchemas;
  readonly #file: string;
  readonly #differing: DifferingMessage[] = [];
  #count = 0;

  constructor(schemas: MessageSchemas, file: string) {
    this.#schemas = schemas;
    this.#file = file;
  }

  add(arrived: ArrivedMessage): void {
    const differing = this.#schemas.judge(arrived);
    if (differing === undefined) return;
    this.#count += 1;
    if (this.#differing.length < MAX_SHOWN) this.#differing.push(differing);
  }

  results(came: ArrivedCount): readonly ExpectationResult[] {
    const about = { expectation: 'schema', filter: this.#file } as const;
    if (this.#count === 0) return [{ ...about, isMet: true, said: cameText(came) }];
    const said = `${this.#count} of ${cameText(came)} ${this.#count === 1 ? 'does' : 'do'} not match`;
    return [{ ...about, isMet: false, said, differing: this.#differing }];
  }
}

/** Returns the errors of a value; none if it matches. */
type SchemaValidator = (value: JsonValue) => readonly ErrorObject[];

/** The schemas that messages must match: chosen by event for a track, by type for other messages. */
export class MessageSchemas {
  readonly #schemas: ReadonlyMap<string, SchemaValidator>;

  /** Throws InputError if a schema does not compile. Errors name `file`. */
  constructor(schemas: JsonValue, file: string) {
    if (!isJsonObject(schemas)) {
      throw schemaError(file, 'Expected an object of event name to JSON Schema', schemas);
    }
    this.#schemas = compiled(schemas, file);
  }

  /** Returns the differences of a message. Undefined if it matches. */
  judge(arrived: ArrivedMessage): DifferingMessage | undefined {
    const differences = this.differences(arrived.message);
    return differences.length === 0 ? undefined : differingMessage(arrived, differences);
  }

  differences(message: ReceivedMessage): readonly MessageDifference[] {
    const { type, event } = messageFacts(message);
    const validate = this.#schemas.get(EVERY_MESSAGE) ?? this.#schemaOf(type, event);
    if (validate === undefined) return type === 'track' ? [this.#unknownEvent(event)] : [];
    const errors = validate(message.value).filter(({ keyword }) => !REPEATING.has(keyword));
    return errors.slice(0, MAX_SHOWN).map((error) => schemaDifference(error));
  }

  #schemaOf(type: string | undefined, event: string | undefined): SchemaValidator | undefined {
    const name = type === 'track' ? event : type;
    if (name === undefined || (type === 'track' && TYPES.has(name))) return undefined;
    return this.#schemas.get(name);
  }

  #unknownEvent(event: string | undefined): MessageDifference {
    const events = [...this.#schemas.keys()].filter((name) => !TYPES.has(name));
    const near = event === undefined ? undefined : closest(event, events);
    const one = `an event with a schema${near === undefined ? '' : `, such as ${JSON.stringify(near)}`}`;
    const wanted = { schema: true };
    return { path: 'event', expected: one, wanted, got: foundValue(event), found: event };
  }
}

/** Keywords whose errors are left out, because another keyword reports the same problem. */
const REPEATING: ReadonlySet<string> = new Set(['if', 'propertyNames']);

/** Key of the schema that every message must match, whatever its event or type. */
export const EVERY_MESSAGE = '$every';

/** Keys of schemas that name a type, not an event. */
const TYPES: ReadonlySet<string> = new Set(['identify', 'page', 'screen', 'group', 'alias', 'delete']);

function compiled(schemas: JsonObject, file: string): ReadonlyMap<string, SchemaValidator> {
  const { $schema, $defs } = schemas;
  const general = $schema === undefined ? undefined : namedDraft($schema, { file, name: undefined });
  const compilers: Partial<Record<Draft, Ajv>> = {};
  const names = Object.keys(schemas).filter((name) => !name.startsWith('$') || name === EVERY_MESSAGE);
  return new Map(
    names.map((name) => {
      const schema = schemas[name] ?? null;
      if (!isJsonObject(schema) && typeof schema !== 'boolean') {
        throw schemaError(file, `Expected a JSON Schema at ${JSON.stringify(name)}`, schema);
      }
      const whole = withDefinitions(schema, $defs);
      const draft = draftOf(whole, general, { file, name });
      const compiler = (compilers[draft] ??= compilerOf(draft));
      return [name, compile(compiler, whole, { file, name })];
    }),
  );
}

/** Adds the shared definitions of the file to a schema. The schema's own definitions take precedence. */
function withDefinitions(schema: JsonObject | boolean, $defs: JsonValue | undefined): JsonObject | boolean {
  if (!isJsonObject(schema) || !isJsonObject($defs)) return schema;
  const own = schema['$defs'];
  return { ...schema, $defs: isJsonObject(own) ? { ...$defs, ...own } : (own ?? $defs) };
}

type Draft = 'draft-07' | '2020-12';

/**
 * Creates a compiler that ignores unknown keywords and formats, because `findSchemaTypo` reports misspelled ones with their
 * place. The compiler fetches nothing, so a remote $ref does not compile.
 */
function compilerOf(draft: Draft): Ajv {
  const errors = { allErrors: true, verbose: true, logger: false } as const;
  const options = { ...errors, strict: false, ownProperties: true, code: { regExp } } as const;
  const compiler = draft === '2020-12' ? new Ajv2020(options) : new Ajv(options);
  formats.default(compiler);
  return compiler;
}

/**
 * Compiles the patterns of schemas with a time limit, because they run on untrusted texts. Ajv needs `code` only to write
 * validators to a file.
 */
const regExp = Object.assign((source: string, flags: string) => boundedRegExp(source, flags), {
  code: 'new RegExp',
});

interface SchemaPlace {
  readonly file: string;
  /** Name of the schema. Undefined for the whole file. */
  readonly name: string | undefined;
}

/**
 * Keywords that only draft 2020-12 has. A schema that uses one without naming its draft counts as 2020-12, because draft 07
 * would ignore the keyword.
 */
const ONLY_2020 =
  /"(?:prefixItems|unevaluated(?:Properties|Items)|dependent(?:Required|Schemas)|minContains|\$(?:dynamicRef|anchor))"\s*:/;

function draftOf(schema: JsonObject | boolean, general: Draft | undefined, place: SchemaPlace): Draft {
  const named = isJsonObject(schema) ? schema['$schema'] : undefined;
  if (named !== undefined) return namedDraft(named, place);
  return general ?? (ONLY_2020.test(JSON.stringify(schema)) ? '2020-12' : 'draft-07');
}

/** Recognizes the URL of a supported draft in its usual spellings: with http or https, with or without a final #. */
const DRAFT = /^https?:\/\/json-schema\.org\/(?:draft\/(2020-12)|(draft-07))\/schema#?$/;

function namedDraft(named: JsonValue, { file, name }: SchemaPlace): Draft {
  const [, later, seven] = (typeof named === 'string' && DRAFT.exec(named)) || [];
  if (later !== undefined || seven !== undefined) return later === undefined ? 'draft-07' : '2020-12';
  const of = name === undefined ? '' : ` of ${JSON.stringify(name)}`;
  throw schemaError(file, `Expected \`$schema\`${of} to be draft 07 or 2020-12`, named);
}

function compile(compiler: Ajv, given: JsonObject | boolean, place: SchemaPlace): SchemaValidator {
  try {
    // Removes `$schema`, by which the compiler was chosen: the compiler knows only one spelling of the draft's URL.
    const schema = isJsonObject(given) ? plainSchema(given) : given;
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
    const validate = compiler.compile(schema as JsonObject); // the types of ajv leave booleans out of this overload
    validate({}); // finds most cycles of references before any message arrives
    return (value) => {
      try {
        return validate(value) ? [] : (validate.errors ?? []);
      } catch (cause) {
        throw cause instanceof RangeError ? uncompiled(cause, place) : cause;
      }
    };
  } catch (cause) {
    throw uncompiled(cause, place);
  }
}

function uncompiled(cause: unknown, { file, name }: SchemaPlace): InputError {
  const said = cause instanceof Error ? cause.message : String(cause);
  const why = cause instanceof RangeError ? 'a $ref leads back to its own schema' : said;
  const at = name === EVERY_MESSAGE ? '' : ` at ${JSON.stringify(name)}`;
  return new InputError(`Expected a JSON Schema that compiles${at}: ${why}`, {
    file,
    cause,
    hint: /can't resolve reference/.test(why)
      ? 'put the target of $ref into the same schema, or under $defs of the file: nothing is fetched'
      : 'correct the schema; draft 07 and 2020-12 are supported, and notes whose key starts with x-',
  });
}

/**
 * Removes the name of the draft (`$schema`). Replaces a property named `__proto__`, which ajv skips, by a pattern that
 * matches only this name.
 */
function plainSchema({ $schema: _draft, ...schema }: JsonObject): JsonObject {
  return JSON.parse(JSON.stringify(schema), (_key, value: JsonValue) => {
    const { properties, patternProperties } = isJsonObject(value) ? value : {};
    if (!isObject(properties) || !Object.hasOwn(properties, '__proto__')) return value;
    const pattern = { '^__proto__$': properties['__proto__'] };
    return { ...Object(value), patternProperties: { ...Object(patternProperties), ...pattern } };
  }) as JsonObject; // the same object with more patterns
}

function schemaError(file: string, expected: string, got: JsonValue): InputError {
  return new InputError(`${expected}, got ${JSON.stringify(got).slice(0, 80)}`, {
    file,
    hint: 'write {"Order Completed": {"type": "object", …}, "identify": {…}}',
  });
}
