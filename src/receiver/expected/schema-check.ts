import { Ajv, type ErrorObject, type ValidateFunction } from 'ajv';
import { Ajv2020 } from 'ajv/dist/2020.js';
import formats from 'ajv-formats';
import { isObject } from '../../check-options.ts';
import { InputError } from '../../errors.ts';
import { boundedRegExp } from '../../message/bounded-regexp.ts';
import { formatPath } from '../../message/json/json-path.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';
import { closest } from '../../suggest.ts';
import { messageFacts } from '../messages/messages-of.ts';
import type { ReceivedMessage } from '../messages/tracking-call.ts';
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
} from './finding.ts';

/** The most messages that are shown, and the most differences of one. */
const MAX_SHOWN = 10;

/** Every message fits the schema of its event or type. */
export class SchemaCheck implements MessageCheck {
  readonly #schemas: MessageSchemas;
  readonly #file: string;
  readonly #differing: DifferingMessage[] = [];
  #count = 0;
  readonly isWaiting = false;

  constructor(schemas: MessageSchemas, file: string) {
    this.#schemas = schemas;
    this.#file = file;
  }

  add(arrived: ArrivedMessage): void {
    const differences = this.#schemas.differences(arrived.message);
    if (differences.length === 0) return;
    this.#count += 1;
    if (this.#differing.length < MAX_SHOWN) this.#differing.push(differingMessage(arrived, differences));
  }

  findings(came: ArrivedCount): readonly ExpectationResult[] {
    const about = { expectation: 'schema', filter: this.#file } as const;
    if (this.#count === 0) return [{ ...about, isMet: true, said: cameText(came) }];
    const said = `${this.#count} of ${cameText(came)} ${this.#count === 1 ? 'does' : 'do'} not match`;
    return [{ ...about, isMet: false, said, differing: this.#differing }];
  }
}

/** The schemas of messages: of a track by its event, of another message by its type. */
export class MessageSchemas {
  readonly #schemas: ReadonlyMap<string, ValidateFunction>;

  /** Throws InputError for a schema that does not compile; `file` is what errors call the whole. */
  constructor(schemas: JsonValue, file: string) {
    if (!isJsonObject(schemas)) {
      throw schemaError(file, 'expected an object of event name to JSON Schema', schemas);
    }
    this.#schemas = compiled(schemas, file);
  }

  differences(message: ReceivedMessage): readonly MessageDifference[] {
    const { type, event } = messageFacts(message);
    const name = schemaName(message);
    const validate = name === undefined ? undefined : this.#schemas.get(name);
    if (validate === undefined) return type === 'track' ? [this.#unknownEvent(event)] : [];
    if (validate(message.value)) return [];
    const errors = (validate.errors ?? []).filter(({ keyword }) => !REPEATING.has(keyword));
    return errors.slice(0, MAX_SHOWN).map((error) => schemaDifference(error));
  }

  #unknownEvent(event: string | undefined): MessageDifference {
    const near = event === undefined ? undefined : closest(event, this.#schemas.keys());
    const one = `an event with a schema${near === undefined ? '' : `, such as ${JSON.stringify(near)}`}`;
    const wanted = { schema: true };
    return { path: 'event', expected: one, wanted, got: foundValue(event), found: event };
  }
}

/** Keywords whose error says that another one has an error. */
const REPEATING: ReadonlySet<string> = new Set(['if', 'propertyNames']);

/** What the schema of a message goes by: the event of a track, else the type. */
export function schemaName(message: ReceivedMessage): string | undefined {
  const { type, event } = messageFacts(message);
  return type === 'track' ? event : type;
}

function compiled(schemas: JsonObject, file: string): ReadonlyMap<string, ValidateFunction> {
  const { $schema } = schemas;
  const compilers: Partial<Record<Draft, Ajv>> = {};
  const names = Object.keys(schemas).filter((name) => !name.startsWith('$'));
  return new Map(
    names.map((name) => {
      const schema = schemas[name] ?? null;
      if (!isJsonObject(schema) && typeof schema !== 'boolean') {
        throw schemaError(file, `expected a JSON Schema at ${JSON.stringify(name)}`, schema);
      }
      const draft = draftOf(schema, $schema, { file, name });
      const compiler = (compilers[draft] ??= compilerOf(draft));
      return [name, compile(compiler, schema, { file, name })];
    }),
  );
}

type Draft = 'draft-07' | '2020-12';

/** Not strict: unknown keywords are notes of people and of other tools. Nothing is fetched: a remote $ref does not compile. */
function compilerOf(draft: Draft): Ajv {
  const options = { strict: false, allErrors: true, verbose: true, logger: false, code: { regExp } } as const;
  const compiler = draft === '2020-12' ? new Ajv2020(options) : new Ajv(options);
  formats.default(compiler);
  return compiler;
}

/** Patterns are tested on texts from outside. `code` is for validators written to a file, of which there is none. */
const regExp = Object.assign(
  (source: string, flags: string) => boundedRegExp(source, flags === 'u' ? 'u' : ''),
  {
    code: 'new RegExp',
  },
);

interface SchemaPlace {
  readonly file: string;
  readonly name: string;
}

/** Keywords that draft 07 does not know, and would let pass. */
const ONLY_2020 =
  /"(?:prefixItems|unevaluated(?:Properties|Items)|dependent(?:Required|Schemas)|minContains|\$dynamicRef)"\s*:/;

function draftOf(schema: JsonObject | boolean, general: JsonValue | undefined, place: SchemaPlace): Draft {
  const named = (isObject(schema) ? schema['$schema'] : undefined) ?? general;
  if (named === undefined) return ONLY_2020.test(JSON.stringify(schema)) ? '2020-12' : 'draft-07';
  const [draft] = /draft-07|2020-12/.exec(JSON.stringify(named)) ?? [];
  if (draft === 'draft-07' || draft === '2020-12') return draft;
  throw schemaError(
    place.file,
    `expected \`$schema\` of ${JSON.stringify(place.name)} to be draft 07 or 2020-12`,
    named,
  );
}

function compile(compiler: Ajv, schema: JsonObject | boolean, { file, name }: SchemaPlace): ValidateFunction {
  try {
    // One with $async would return a promise, which is neither yes nor no.
    if (isObject(schema) && schema['$async'] !== undefined) throw new Error('$async is not supported');
    const fault = compiler.validateSchema(schema) === true ? undefined : compiler.errors?.[0];
    if (fault !== undefined) {
      const { path, expected, got } = schemaDifference(fault);
      throw new Error(
        `expected ${expected}${path === 'message' ? '' : ` at ${path}`}, got ${got.slice(0, 80)}`,
      );
    }
    return compiler.compile(schema as JsonObject); // the types of ajv leave booleans out of this overload
  } catch (cause) {
    const why = cause instanceof Error ? cause.message : String(cause);
    throw new InputError(`expected a JSON Schema that compiles at ${JSON.stringify(name)}: ${why}`, {
      file,
      cause,
      hint: /can't resolve reference/.test(why)
        ? 'put what $ref names into the same schema, under $defs: nothing is fetched'
        : 'correct the schema; draft 07 and 2020-12 are known',
    });
  }
}

function schemaError(file: string, expected: string, got: JsonValue): InputError {
  return new InputError(`${expected}, got ${JSON.stringify(got).slice(0, 80)}`, {
    file,
    hint: 'write {"Order Completed": {"type": "object", …}, "identify": {…}}',
  });
}

function schemaDifference({
  instancePath,
  keyword,
  params,
  message = '',
  data,
  propertyName,
}: ErrorObject): MessageDifference {
  const steps = instancePath.split('/').slice(1).map(pathStep);
  const facts = params as Readonly<Record<string, unknown>>; // an object of the keyword's own
  const found = data as JsonValue; // a part of the message
  const missing = keyword === 'required' ? facts['missingProperty'] : undefined;
  if (typeof missing === 'string') {
    return difference([...steps, missing], 'something', { wanted: { present: true }, found: undefined });
  }
  const extra = facts['additionalProperty'] ?? facts['unevaluatedProperty'];
  if (typeof extra === 'string') {
    const value = isJsonObject(found) ? found[extra] : undefined;
    return difference([...steps, extra], 'nothing', { wanted: { present: false }, found: value });
  }
  const expected = expectedOf(keyword, facts, message);
  const of = propertyName === undefined ? expected : expected.replace(/^a value/, 'a key');
  return difference(steps, of, { wanted: { schema: message }, found });
}

function expectedOf(keyword: string, params: Readonly<Record<string, unknown>>, message: string): string {
  if (keyword === 'type') return `a value of type ${[params['type']].flat().join(' or ')}`;
  if (keyword === 'enum') return `one of ${JSON.stringify(params['allowedValues'])}`;
  if (keyword === 'const') return JSON.stringify(params['allowedValue']);
  if (keyword === 'not') return 'a value that the schema under `not` rejects';
  if (keyword === 'format') return `a value of format ${String(params['format'])}`;
  return `a value that ${VERBS.reduce((text, [must, does]) => text.replace(must, does), message)}`;
}

/** What the validator says begins with these. */
const VERBS = [
  [/^must NOT have /, 'does not have '],
  [/^must NOT be /, 'is not '],
  [/^must be /, 'is '],
  [/^must have /, 'has '],
  [/^must match /, 'matches '],
  [/^must contain /, 'contains '],
] as const;

function difference(
  steps: readonly (string | number)[],
  expected: string,
  { wanted, found }: Pick<MessageDifference, 'wanted' | 'found'>,
): MessageDifference {
  return { path: formatPath(steps) || 'message', expected, wanted, got: foundValue(found), found };
}

/** A step of a JSON pointer (RFC 6901). */
function pathStep(step: string): string | number {
  const text = step.replaceAll('~1', '/').replaceAll('~0', '~');
  return /^\d+$/.test(text) ? Number(text) : text;
}
