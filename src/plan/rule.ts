import type { InputError } from '../errors.ts';
import type { JsonObject, JsonValue } from '../message/types.ts';

/** Types of rules: for the messages of a type, or for all messages (`common`). A `track` rule is for one event. */
export const RULE_TYPES = [
  'track',
  'identify',
  'group',
  'page',
  'screen',
  'alias',
  'delete',
  'common',
] as const;
export type RuleType = (typeof RULE_TYPES)[number];

/** Calls that count as a track of this event if the plan has no rule for their type. */
export const NAMED_CALLS: Readonly<Record<string, string>> = { page: 'Page Viewed', screen: 'Screen Viewed' };

/** A rule of a tracking plan: the JSON Schema that messages of a type, or tracks of an event, must match. */
export interface PlanRule {
  readonly type: RuleType;
  /** The event of a `track` rule. Undefined for other types. */
  readonly event?: string | undefined;
  /** Version of the rule, from 1. A message names its version in `context.protocols.event_version`. */
  readonly version: number;
  /** JSON Schema of the whole message, draft 07 or 2020-12. May have the notes `labels`, `eventMetadata` and `id`. */
  readonly schema: JsonObject | boolean;
  /** The file that the rule is from, and its place there as a JSON pointer; empty for the whole file. */
  readonly file: string;
  readonly pointer: string;
}

/** A tracking plan as read from its files. */
export interface PlanDocument {
  /** The rules in the order of the files. */
  readonly rules: readonly PlanRule[];
  /** Whether a property that a rule does not list is a violation. False for a file of `--schema`. */
  readonly listsProperties: boolean;
  /** Whether a track whose event has no rule is a violation. */
  readonly listsEvents: boolean;
}

/** The content of a file of a plan. */
export interface PlanFile {
  /** The path, for errors. */
  readonly file: string;
  readonly value: JsonValue;
}

/** The rules of a file, and the problems of those that cannot be used. */
export interface RulesFound {
  readonly rules: readonly PlanRule[];
  readonly problems: readonly InputError[];
}

/** The field of a message that its rule is mostly about. */
export function contentField(type: string): 'traits' | 'properties' {
  return type === 'identify' || type === 'group' ? 'traits' : 'properties';
}

/** Describes a rule: `track "Signup" version 2`, `identify`. Not escaped for terminals. */
export function ruleLabel({ type, event, version }: Pick<PlanRule, 'type' | 'event' | 'version'>): string {
  const name = event === undefined ? type : `${type} ${JSON.stringify(event)}`;
  return version === 1 ? name : `${name} version ${version}`;
}
