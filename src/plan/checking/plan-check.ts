import { InputError } from '../../errors.ts';
import type { PathStep } from '../../message/json/json-path.ts';
import { isJsonArray, isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';
import { closest } from '../../suggest.ts';
import { throwProblems } from '../problems.ts';
import { contentField, NAMED_CALLS, type PlanDocument, type PlanRule } from '../rule.ts';
import type { PlanViolation } from '../violation.ts';
import { SchemaCompiler, type SchemaValidator } from './compile-schema.ts';
import { PlannedNames } from './planned-names.ts';
import { schemaDifference, unplannedProperty, violation } from './schema-difference.ts';

/** Maximum number of violations of one message. */
const MOST_VIOLATIONS = 10;

interface CompiledRule {
  readonly rule: PlanRule;
  readonly validate: SchemaValidator;
  readonly planned: PlannedNames;
}

/** A tracking plan whose schemas are compiled: finds what a message violates. */
export class PlanCheck {
  readonly #document: PlanDocument;
  readonly #rules: ReadonlyMap<string, readonly CompiledRule[]>;

  /** Throws InputError if a rule does not compile, with the problems of all rules in `others`. */
  constructor(document: PlanDocument) {
    this.#document = document;
    this.#rules = compiled(document.rules);
  }

  /** The violations of a message, none if it follows the plan. At most 10. */
  violations(message: JsonValue): readonly PlanViolation[] {
    const { type, event } = isJsonObject(message) ? message : {};
    const own = this.#ruleOf(typeof type === 'string' ? type : '', event, message);
    if (own === undefined && type === 'track' && this.#document.listsEvents) {
      return [this.#unplannedEvent(event)];
    }
    const rules = [...(own ?? []), ...(this.#rules.get(keyOf('common')) ?? [])];
    const violations = versionViolations(own, message);
    for (const { validate } of rules) {
      const errors = validate(message).filter(({ keyword }) => !REPEATING.has(keyword));
      violations.push(...errors.map((error) => schemaDifference(error)));
    }
    const unplanned = this.#unplanned(rules, message);
    if (violations.length === 0) return unplanned;
    // Several branches of a schema may report the same.
    const distinct = [
      ...new Map(violations.map((each) => [`${each.kind} ${each.pointer} ${each.expected}`, each])).values(),
    ];
    const reported = new Set(violations.map(({ pointer }) => pointer));
    const others = unplanned.filter(({ pointer }) => !reported.has(pointer));
    return [...distinct, ...others].slice(0, MOST_VIOLATIONS);
  }

  /** The rule of a message in the version that it names, in a list; none for a type that the plan leaves free. */
  #ruleOf(
    type: string,
    event: JsonValue | undefined,
    message: JsonValue,
  ): readonly CompiledRule[] | undefined {
    const versions =
      type === 'track'
        ? this.#rules.get(keyOf('track', typeof event === 'string' ? event : undefined))
        : (this.#rules.get(keyOf(type)) ?? this.#rules.get(keyOf('track', NAMED_CALLS[type] ?? '')));
    if (versions === undefined) return undefined;
    const named = versionOf(message);
    const [oldest] = versions;
    const chosen = versions.find(({ rule }) => rule.version === named) ?? oldest;
    return chosen && [chosen];
  }

  #unplannedEvent(event: JsonValue | undefined): PlanViolation {
    const events = this.#document.rules.flatMap((rule) => rule.event ?? []);
    const near = typeof event === 'string' ? closest(event, events) : undefined;
    const expected = `an event with a schema${near === undefined ? '' : `, such as ${JSON.stringify(near)}`}`;
    return violation(['event'], {
      kind: 'unplanned-event',
      expected,
      wanted: { schema: true },
      found: event,
    });
  }

  #unplanned(rules: readonly CompiledRule[], message: JsonValue): readonly PlanViolation[] {
    const planned = rules[0]?.planned;
    if (!this.#document.listsProperties || planned === undefined || !isJsonObject(message)) return [];
    const { type } = message;
    const field = contentField(typeof type === 'string' ? type : '');
    const value = message[field];
    if (!isJsonObject(value)) return [];
    const names = planned.of(field);
    const found: PlanViolation[] = [];
    if (names !== undefined) addUnplanned(value, { names, steps: [field], isListed: true }, found);
    return found;
  }
}

/** Keywords whose errors are left out, because another keyword reports the same problem. */
const REPEATING: ReadonlySet<string> = new Set(['if', 'propertyNames']);

function keyOf(type: string, event?: string): string {
  return event === undefined ? type : `${type}\n${event}`;
}

function compiled(rules: readonly PlanRule[]): ReadonlyMap<string, readonly CompiledRule[]> {
  const compiler = new SchemaCompiler();
  const problems: InputError[] = [];
  const byKey = new Map<string, CompiledRule[]>();
  const common = rules.filter(({ type }) => type === 'common').map(({ schema }) => schema);
  for (const rule of rules) {
    try {
      // Compiles first, because the names have patterns, which may be invalid.
      const validate = compiler.compile(rule);
      const planned = new PlannedNames([rule.schema, ...common].map((schema) => ({ schema, whole: schema })));
      const key = keyOf(rule.type, rule.event);
      byKey.set(key, [...(byKey.get(key) ?? []), { rule, planned, validate }]);
    } catch (error) {
      if (!(error instanceof InputError)) throw error;
      problems.push(error);
    }
  }
  throwProblems(problems);
  for (const versions of byKey.values()) versions.sort((one, other) => one.rule.version - other.rule.version);
  return byKey;
}

/** The version of its rule that a message names: `context.protocols.event_version`, an integer. */
function versionOf(message: JsonValue): JsonValue | undefined {
  const { context } = isJsonObject(message) ? message : {};
  const { protocols } = isJsonObject(context) ? context : {};
  return isJsonObject(protocols) ? protocols['event_version'] : undefined;
}

/** A version that the plan does not have is a violation, although the oldest version is then checked. */
function versionViolations(own: readonly CompiledRule[] | undefined, message: JsonValue): PlanViolation[] {
  const named = versionOf(message);
  const [chosen] = own ?? [];
  if (named === undefined || named === null || chosen?.rule.version === named) return [];
  if (chosen === undefined) return [];
  const expected = 'a version that the plan has';
  const steps = ['context', 'protocols', 'event_version'];
  return [violation(steps, { kind: 'version', expected, wanted: { version: true }, found: named })];
}

interface PlannedPlace {
  readonly names: PlannedNames;
  readonly steps: readonly PathStep[];
  /** Whether an unlisted name is a violation even if the schema lists no name. */
  readonly isListed: boolean;
}

/** Adds the properties of an object, and of objects in it, that the plan does not list. */
function addUnplanned(
  value: JsonObject,
  { names, steps, isListed }: PlannedPlace,
  found: PlanViolation[],
): void {
  const isClosed = (isListed || names.isListed) && !names.isOpen;
  for (const name of Object.keys(value)) {
    const each = value[name] ?? null;
    if (found.length >= MOST_VIOLATIONS) return;
    if (isClosed && !names.has(name)) {
      found.push(unplannedProperty([...steps, name], each, names.near(name)));
      continue;
    }
    const inner = typeof each === 'object' ? names.of(name) : undefined;
    if (inner !== undefined) {
      addInner(each, { names: inner, steps: [...steps, name], isListed: false }, found);
    }
  }
}

function addInner(value: JsonValue, place: PlannedPlace, found: PlanViolation[]): void {
  if (isJsonObject(value)) return addUnplanned(value, place, found);
  if (!isJsonArray(value)) return;
  const names = place.names.ofItems;
  for (const [index, item] of value.entries()) {
    if (isJsonObject(item)) {
      addUnplanned(item, { names, steps: [...place.steps, index], isListed: false }, found);
    }
  }
}
