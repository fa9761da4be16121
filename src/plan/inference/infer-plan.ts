import { isJsonObject, type JsonObject, type JsonValue } from '../../message/types.ts';
import { ruleLabel, type PlanDocument, type PlanRule, type RuleType } from '../rule.ts';
import { planRemarks, type PlanRemark } from './plan-remarks.ts';
import { ENOUGH, ValueShape } from './value-shape.ts';

/** Maximum number of rules: more than the events of any plan. Beyond it, the names of events are data. */
const MOST_RULES = 20_000;

/** The field that a rule of each type is about. */
const FIELDS: Readonly<Record<string, 'properties' | 'traits'>> = {
  track: 'properties',
  page: 'properties',
  screen: 'properties',
  identify: 'traits',
  group: 'traits',
};

interface ObservedRule {
  readonly rule: Pick<PlanRule, 'type' | 'event' | 'version'>;
  readonly shape: ValueShape;
}

/** Builds a first plan from messages. Its memory depends on the number of events and properties, not of messages. */
export class PlanInference {
  readonly #observed = new Map<string, ObservedRule>();
  #hasMore = false;

  add(message: JsonValue): void {
    if (!isJsonObject(message)) return;
    const rule = ruleOf(message);
    if (rule === undefined) return;
    const label = ruleLabel(rule);
    let observed = this.#observed.get(label);
    if (observed === undefined) {
      this.#hasMore ||= this.#observed.size >= MOST_RULES;
      if (this.#hasMore) return;
      observed = { rule, shape: new ValueShape() };
      this.#observed.set(label, observed);
    }
    const value = message[FIELDS[rule.type] ?? 'properties'];
    observed.shape.add(isJsonObject(value) ? value : {});
  }

  /** The plan, with its rules in the order of their names: the same for the same messages in any order. */
  get document(): PlanDocument {
    const rules = this.#sorted().map(({ rule, shape }): PlanRule => {
      return { ...rule, schema: schemaOf(FIELDS[rule.type] ?? 'properties', shape), file: '', pointer: '' };
    });
    return { rules, listsProperties: true, listsEvents: true };
  }

  /** Number of messages by rule. */
  get counts(): readonly { readonly label: string; readonly count: number }[] {
    return this.#sorted().map(({ rule, shape }) => ({ label: ruleLabel(rule), count: shape.count }));
  }

  /** Remarks for the person who reviews the plan. */
  get remarks(): readonly PlanRemark[] {
    const rules = this.#sorted().map(({ rule, shape }) => ({
      label: ruleLabel(rule),
      event: rule.event,
      shape,
    }));
    const limit: PlanRemark = {
      kind: 'many-events',
      text: `the messages have over ${MOST_RULES} events: the rest is left out, because these names seem to be data`,
    };
    const few: PlanRemark = {
      kind: 'few-messages',
      text: `no event has ${ENOUGH} messages, so no property is required, and none has a list of values`,
    };
    const isFew = rules.every(({ shape }) => shape.count < ENOUGH);
    return [...(this.#hasMore ? [limit] : []), ...(isFew ? [few] : []), ...planRemarks(rules)];
  }

  #sorted(): readonly ObservedRule[] {
    const entries = [...this.#observed].toSorted(([one], [other]) => (one < other ? -1 : 1));
    return entries.map(([, observed]) => observed);
  }
}

function ruleOf({ type, event, context }: JsonObject): ObservedRule['rule'] | undefined {
  if (typeof type !== 'string' || FIELDS[type] === undefined) return undefined;
  const version = versionOf(context);
  if (type !== 'track') return { type: type as RuleType, event: undefined, version }; // a key of FIELDS
  return typeof event === 'string' && event !== '' ? { type, event, version } : undefined;
}

/** The version that a message names. 1 without a valid one. */
function versionOf(context: JsonValue | undefined): number {
  const { protocols } = isJsonObject(context) ? context : {};
  const version = isJsonObject(protocols) ? protocols['event_version'] : undefined;
  return typeof version === 'number' && Number.isSafeInteger(version) && version > 0 ? version : 1;
}

function schemaOf(field: string, shape: ValueShape): JsonObject {
  const own = shape.toSchema();
  return {
    $schema: 'http://json-schema.org/draft-07/schema#',
    type: 'object',
    properties: { [field]: own },
    ...(own['required'] !== undefined && { required: [field] }),
  };
}
