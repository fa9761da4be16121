import { basename } from 'node:path';
import { InputError } from '../../errors.ts';
import { isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';
import type { PlanRule, RulesFound, RuleType } from '../rule.ts';
import { isVersion, ruleType, wholeSchema } from './segment-rules.ts';

/** Key of the schema that every message must match, whatever its event or type. */
export const EVERY_MESSAGE = '$every';

/** Keywords that a JSON Schema has at the top level and that are unlikely as event names. */
const SCHEMA_WORD = /^(?:\$ref|type|properties|required|allOf|anyOf|oneOf|not|const|enum|eventMetadata)$/;

/** Whether a value is one JSON Schema, and not an object of event name to JSON Schema. */
export function isSchema(value: JsonValue | undefined): boolean {
  return (
    isJsonObject(value) &&
    Object.entries(value).some(([key, each]) => SCHEMA_WORD.test(key) && !isSchemaOfEvent(key, each))
  );
}

/**
 * Whether a keyword, such as `type`, is used as an event name: the value of an event is a schema, so an object, but the
 * value of the keyword is a string or a list.
 */
function isSchemaOfEvent(key: string, value: JsonValue | undefined): boolean {
  return isJsonObject(value) && !['properties', 'not', 'const', 'eventMetadata'].includes(key);
}

/** Fields of a message. A schema whose properties have other names is about the properties alone. */
const MESSAGE_FIELDS: ReadonlySet<string> = new Set(
  'anonymousId category channel context event groupId integrations messageId name originalTimestamp previousId properties receivedAt sentAt timestamp traits type userId version writeKey'.split(
    ' ',
  ),
);

/** A name of a file such as `page_viewed.v2.json`: the event, and the version. */
const FILE_NAME = /^(.*?)(?:[._-]v(\d{1,9}))?\.(?:schema\.)?json$/i;

/**
 * Reads a file that is one JSON Schema. Its event and version are those of `eventMetadata`, else `title`, else the name of
 * the file: `page_viewed.v2.json`. A file named like a type, such as `identify.json`, is a rule for that type.
 */
export function readSingleSchema(schema: JsonObject, file: string): RulesFound {
  const { eventMetadata, title } = schema;
  const { name, type, version } = isJsonObject(eventMetadata) ? eventMetadata : {};
  const [, ofFile = basename(file), versionOfFile = '1'] = FILE_NAME.exec(basename(file)) ?? [];
  const given = [name, title, ofFile].find((each) => typeof each === 'string' && each !== '');
  const event = typeof given === 'string' ? given : ofFile;
  const named = (typeof type === 'string' && ruleType(type)) || ruleType(ofFile) || 'track';
  const rule: PlanRule = {
    type: named,
    event: named === 'track' ? event : undefined,
    version: isVersion(version) ? version : Math.max(1, Number(versionOfFile)),
    schema: wholeSchema(isWhole(schema) ? schema : { ...schema, eventMetadata: eventMetadata ?? {} }, named),
    file,
    pointer: '',
  };
  return { rules: [rule], problems: [] };
}

/** Whether a schema is about the whole message: its properties are fields of messages, or one of them holds the others. */
function isWhole({ properties, required = [], eventMetadata }: JsonObject): boolean {
  if (eventMetadata !== undefined) return false;
  const names = [...(isJsonObject(properties) ? Object.keys(properties) : []), ...[required].flat()];
  const inner = isJsonObject(properties) ? [properties['properties'], properties['traits']] : [];
  if (inner.some((each) => isJsonObject(each) && isJsonObject(each['properties']))) return true;
  return names.every((name) => typeof name === 'string' && MESSAGE_FIELDS.has(name));
}

/** Reads an object of event name to JSON Schema of the whole message. Other types stand under `identify` and so on. */
export function readSchemas(schemas: JsonValue, file: string): RulesFound {
  if (!isJsonObject(schemas)) {
    return {
      rules: [],
      problems: [
        schemaError(file, 'Expected a tracking plan, or an object of event name to JSON Schema', schemas),
      ],
    };
  }
  const { $schema, $defs } = schemas;
  const problems: InputError[] = [];
  const rules = Object.entries(schemas).flatMap(([name, schema]): PlanRule[] => {
    if (name.startsWith('$') && name !== EVERY_MESSAGE) return [];
    if (!isJsonObject(schema) && typeof schema !== 'boolean') {
      problems.push(schemaError(file, `Expected a JSON Schema at ${JSON.stringify(name)}`, schema));
      return [];
    }
    const type = typeNamed(name);
    const event = type === 'track' ? name : undefined;
    const pointer = name === EVERY_MESSAGE ? '' : `/${name.replaceAll('~', '~0').replaceAll('/', '~1')}`;
    return [{ type, event, version: 1, schema: withShared(schema, { $schema, $defs }), file, pointer }];
  });
  return { rules, problems };
}

function typeNamed(name: string): RuleType {
  if (name === EVERY_MESSAGE) return 'common';
  const type = ruleType(name);
  return type === undefined || type !== name || type === 'common' ? 'track' : type;
}

/** Adds the shared draft and definitions of the file to a schema. The schema's own ones take precedence. */
function withShared(
  schema: JsonObject | boolean,
  { $schema, $defs }: Readonly<Record<'$schema' | '$defs', JsonValue | undefined>>,
): JsonObject | boolean {
  if (!isJsonObject(schema)) return schema;
  const own = schema['$defs'];
  const definitions = isJsonObject(own) && isJsonObject($defs) ? { ...$defs, ...own } : (own ?? $defs);
  return {
    ...($schema !== undefined && { $schema }),
    ...schema,
    ...(definitions !== undefined && { $defs: definitions }),
  };
}

function schemaError(file: string, what: string, got: JsonValue): InputError {
  return new InputError(`${what}, got ${JSON.stringify(got).slice(0, 80)}`, {
    file,
    hint: 'write {"Order Completed": {"type": "object", …}, "identify": {…}}',
  });
}
