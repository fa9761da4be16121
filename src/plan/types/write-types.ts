import type { JSONSchema, Options } from 'json-schema-to-typescript';
import { InputError, isPackageMissing, messageOf } from '../../errors.ts';
import type { JsonObject } from '../../message/types.ts';
import { ruleLabel, type PlanDocument, type PlanRule } from '../rule.ts';
import { CLIENT_FUNCTIONS } from './client-functions.ts';
import { contentSchema } from './content-schema.ts';
import { pascalCase, TypeNames } from './type-names.ts';

const HEADER = '// Made by hooks plan types. Do not edit.\n/* eslint-disable */\n';

/** A rule and the name of its type. */
interface NamedRule {
  readonly rule: PlanRule;
  readonly name: string;
}

type CompileTypes = (schema: JSONSchema, name: string, options: Partial<Options>) => Promise<string>;

/**
 * Writes TypeScript for a plan: a type for each rule, and a typed `track` for its events. The order of the rules does not
 * matter. Throws InputError if the library is not installed, or if it cannot convert a rule.
 */
export async function writeTypes({ rules }: PlanDocument): Promise<string> {
  const compile = await loadCompiler();
  const names = new TypeNames();
  const named = sorted(rules).flatMap((rule) => {
    const name = names.ofRule(rule);
    return name === undefined ? [] : { rule, name };
  });
  const types: string[] = [];
  for (const each of named) types.push(await typeOf(each, names, compile));
  const tracks = named.filter(({ rule }) => rule.type === 'track');
  const events = tracks.length === 0 ? [] : [eventsType(tracks), CLIENT_FUNCTIONS];
  return [HEADER, ...types, ...events].join('\n');
}

async function loadCompiler(): Promise<CompileTypes> {
  try {
    const { compile } = await import('json-schema-to-typescript');
    return compile;
  } catch (cause) {
    if (!isPackageMissing(cause)) throw cause;
    throw new InputError('Types of a plan need a package that is not installed: json-schema-to-typescript', {
      hint: 'install it next to hooks-cli: npm install json-schema-to-typescript@16 (with --global if hooks-cli is global)',
      cause,
    });
  }
}

/** Sorts rules by event and version, so that their names do not depend on the order of the files. Drops repeated ones. */
function sorted(rules: readonly PlanRule[]): readonly PlanRule[] {
  const byLabel = new Map(rules.toReversed().map((rule) => [ruleLabel(rule), rule]));
  return [...byLabel.values()].toSorted((one, other) => {
    const [before, after] = [one, other].map(({ type, event = '' }) => `${type}\n${event}`) as [
      string,
      string,
    ]; // two rules
    if (before !== after) return before < after ? -1 : 1;
    return one.version - other.version;
  });
}

const OPTIONS: Partial<Options> = {
  additionalProperties: false,
  bannerComment: '',
  // A program builds most lists item by item, which does not compile for a tuple.
  ignoreMinAndMaxItems: true,
  style: { printWidth: 110 },
  // A plan never leads to a file or to another host.
  $refOptions: { resolve: { file: false, http: false } },
};

async function typeOf({ rule, name }: NamedRule, names: TypeNames, compile: CompileTypes): Promise<string> {
  const schema: JsonObject = { ...contentSchema(rule), title: name };
  // The library asks for a name several times.
  const given = new WeakMap<object, string>();
  const customName = (each: JSONSchema & { readonly $id?: string }, key?: string): string | undefined => {
    if (each.title === name) return name;
    const inner = key ?? each.$id;
    if (inner === undefined) return undefined;
    const known = given.get(each) ?? names.free(name + pascalCase(inner));
    given.set(each, known);
    return known;
  };
  try {
    return await compile(schema, name, { ...OPTIONS, customName });
  } catch (cause) {
    throw new InputError(
      `Expected a schema that types can express, got ${ruleLabel(rule)}: ${messageOf(cause)}`,
      {
        file: rule.file,
        hint: 'refer to definitions of the same schema by a path, such as #/$defs/Address',
        cause,
      },
    );
  }
}

/** The type of each event: the oldest version, because it is the one that is checked if a message names none. */
function eventsType(tracks: readonly NamedRule[]): string {
  const oldest = new Map(tracks.toReversed().map(({ rule, name }) => [rule.event ?? '', name]));
  const lines = [...oldest].toReversed().map(([event, name]) => `  ${JSON.stringify(event)}: ${name};\n`);
  return `/** The properties of each event, in the oldest version of its rule. */\nexport interface TrackEvents {\n${lines.join('')}}\n`;
}
