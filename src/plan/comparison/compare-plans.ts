import { NAMED_CALLS, ruleLabel, type PlanDocument, type PlanRule } from '../rule.ts';
import { factsOf, type PathFacts } from './schema-facts.ts';

/** A difference between two plans. A `breaking` one rejects messages that the old plan accepts. */
export interface PlanChange {
  readonly change: 'breaking' | 'compatible';
  readonly rule: Pick<PlanRule, 'type' | 'event' | 'version'>;
  /** Path in the message, such as `properties.items[].price`. Empty for the whole rule. */
  readonly path: string;
  /** Sentence without its subject, such as `is required now`. Not escaped. */
  readonly what: string;
}

/** Compares two plans rule by rule. A rule is the same rule if type, event and version are the same. */
export function comparePlans(before: PlanDocument, after: PlanDocument): readonly PlanChange[] {
  const old = byLabel(before.rules);
  const current = byLabel(after.rules);
  const labels = new Set([...old.keys(), ...current.keys()]);
  return [...labels]
    .toSorted(alphabetically)
    .flatMap((label) => changesOf(old.get(label), current.get(label), [before, after]));
}

function byLabel(rules: readonly PlanRule[]): ReadonlyMap<string, PlanRule> {
  return new Map(rules.map((rule) => [ruleLabel(rule), rule]));
}

function alphabetically(one: string, other: string): number {
  return one < other ? -1 : 1;
}

function changesOf(
  old: PlanRule | undefined,
  current: PlanRule | undefined,
  [oldPlan, currentPlan]: readonly [PlanDocument, PlanDocument],
): readonly PlanChange[] {
  const rule = current ?? old;
  if (rule === undefined) return [];
  if (old === undefined) return [{ ...newRule(rule, oldPlan), rule, path: '' }];
  if (current === undefined) {
    return [{ change: rule.type === 'track' ? 'breaking' : 'compatible', rule, path: '', what: 'is gone' }];
  }
  const before = factsOf(old.schema, oldPlan.listsProperties);
  const after = factsOf(current.schema, currentPlan.listsProperties);
  const paths = [...new Set([...before.keys(), ...after.keys()])].toSorted(alphabetically);
  const reported = new Set<string>();
  return paths.flatMap((path) => {
    const around = path === '' ? [] : ['', ...outerPaths(path)];
    const nearest = around.at(-1) ?? '';
    const found = pathChanges(
      path,
      { facts: before.get(path), outer: before.get(nearest) },
      { facts: after.get(path), outer: after.get(nearest) },
    );
    // Reports a new path or one that is gone once, without the paths in it.
    if (outerPaths(path).some((outer) => reported.has(outer))) return [];
    if (before.get(path) === undefined || after.get(path) === undefined) reported.add(path);
    return found.map((each) => ({ ...each, rule, path }));
  });
}

/**
 * Describes a new rule. An event without a rule was a violation, so its rule accepts more. Any other rule checks messages that
 * were free, or that an earlier rule checked.
 */
function newRule({ type, event, version }: PlanRule, { rules }: PlanDocument): PathChange {
  if (type !== 'track') return breaking('is new');
  const call = Object.entries(NAMED_CALLS).find(([, name]) => name === event)?.[0];
  const isFree = call !== undefined && rules.every((rule) => rule.type !== call && rule.event !== event);
  if (isFree) return breaking(`is new, and checks ${call} calls too`);
  const versions = rules.filter((rule) => rule.event === event).map((rule) => rule.version);
  const isOldest = versions.length > 0 && versions.every((each) => each > version);
  return isOldest ? breaking('is new, and checks messages that name no version') : compatible('is new');
}

function demandsNothing(facts: PathFacts | undefined): boolean {
  if (facts === undefined) return false;
  const { isRequired, types, values, isClosed, keywords } = facts;
  return !isRequired && types === undefined && values === undefined && !isClosed && keywords.size === 0;
}

/** The paths that a path is within, such as `properties.items` and `properties` for `properties.items[]`. */
function outerPaths(path: string): readonly string[] {
  return [...path.matchAll(/[.[]/g)].map(({ index }) => path.slice(0, index));
}

type PathChange = Pick<PlanChange, 'change' | 'what'>;

const breaking = (what: string): PathChange => ({ change: 'breaking', what });
const compatible = (what: string): PathChange => ({ change: 'compatible', what });

/** The demands on a value, and on the object or list that it is in. */
interface PlacedFacts {
  readonly facts: PathFacts | undefined;
  readonly outer: PathFacts | undefined;
}

function pathChanges(
  path: string,
  { facts: before, outer: outerBefore }: PlacedFacts,
  { facts: after, outer: outerAfter }: PlacedFacts,
): readonly PathChange[] {
  // Names are listed for properties and traits only. Elsewhere, a path that demands nothing changes nothing.
  const isName = /^(?:properties|traits)[.[]/.test(path);
  if (!isName && (demandsNothing(before) || demandsNothing(after)) && !(before && after)) return [];
  if (before === undefined) {
    if (after?.isRequired) return [breaking('is new and required')];
    // Any value was accepted before if the object accepts properties that it does not list, as all lists do.
    const wasFree = path.endsWith('[]') || outerBefore?.isClosed === false;
    return wasFree && !demandsNothing(after) ? [breaking('is checked now')] : [compatible('is new')];
  }
  if (after === undefined) {
    const isFree = outerAfter?.isClosed === false && !outerAfter.keywords.has('additionalProperties');
    return isFree ? [compatible('is no longer checked')] : [breaking('is gone')];
  }
  return [
    ...requiredChange(before, after),
    ...setChange('type', before.types, after.types),
    ...setChange('value', before.values, after.values),
    ...(before.isClosed === after.isClosed
      ? []
      : [
          after.isClosed
            ? breaking('allows no other properties now')
            : compatible('allows other properties now'),
        ]),
    ...keywordChanges(before.keywords, after),
  ];
}

function requiredChange(before: PathFacts, after: PathFacts): readonly PathChange[] {
  if (before.isRequired === after.isRequired) return [];
  return after.isRequired ? [breaking('is required now')] : [compatible('is optional now')];
}

/** Compares the allowed types or values. Undefined allows all. */
function setChange(
  noun: string,
  before: ReadonlySet<string> | undefined,
  after: ReadonlySet<string> | undefined,
): readonly PathChange[] {
  if (before === undefined && after === undefined) return [];
  if (after === undefined) return [compatible(`allows any ${noun} now`)];
  if (before === undefined) return [breaking(`allows only the ${noun}s ${listOf(after)} now`)];
  const lost = [...before].filter((each) => !after.has(each));
  const gained = [...after].filter((each) => !before.has(each));
  if (lost.length > 0) return [breaking(`no longer allows the ${noun} ${lost.join(', ')}`)];
  return gained.length > 0 ? [compatible(`allows the ${noun} ${gained.join(', ')} now`)] : [];
}

function listOf(values: ReadonlySet<string>): string {
  return [...values].join(', ');
}

/** Compares the other keywords. A changed one counts as breaking, because it may reject what it accepted. */
function keywordChanges(
  before: PathFacts['keywords'],
  { keywords: after, isClosed }: PathFacts,
): readonly PathChange[] {
  const names = [...new Set([...before.keys(), ...after.keys()])].toSorted(alphabetically);
  return names.flatMap((name): PathChange[] => {
    const [old, current] = [before.get(name), after.get(name)];
    if (old === current) return [];
    if (current === undefined) {
      // Names that matched a pattern are now names that are not listed.
      const isLoss = name === 'patternProperties' && isClosed;
      return [(isLoss ? breaking : compatible)(`no longer has \`${name}\``)];
    }
    if (old !== undefined && isLooser(name, old, current)) {
      return [compatible(`has \`${name}\` ${current}, not ${old}`)];
    }
    return [
      breaking(
        old === undefined ? `has \`${name}\` ${current} now` : `has \`${name}\` ${current}, not ${old}`,
      ),
    ];
  });
}

/** Whether a limit accepts all that it accepted before. */
function isLooser(name: string, old: string, current: string): boolean {
  if (name === 'multipleOf') return Number(old) % Number(current) === 0;
  if (/^(?:max|exclusiveMax)/.test(name)) return Number(current) >= Number(old);
  return /^(?:min|exclusiveMin)/.test(name) && Number(current) <= Number(old);
}
