import type { ValueShape } from './value-shape.ts';

/** A remark about messages, for the person who reviews the plan that was inferred from them. The text is not escaped. */
export interface PlanRemark {
  readonly kind: 'near-names' | 'several-types' | 'personal-data' | 'many-events' | 'few-messages';
  readonly text: string;
}

interface RuleShape {
  readonly label: string;
  readonly event: string | undefined;
  readonly shape: ValueShape;
}

/** Maximum number of remarks of each kind. */
const MOST_REMARKS = 20;

/** Remarks on events whose names differ only in their spelling, on properties of several types, and on a person's data. */
export function planRemarks(rules: readonly RuleShape[]): readonly PlanRemark[] {
  const properties = propertiesOf(rules);
  return [
    ...nearNames([...new Set(rules.flatMap(({ event }) => event ?? []))], 'events'),
    ...nearNames([...properties.keys()], 'properties'),
    ...severalTypes(properties),
    ...personalData(properties),
  ];
}

interface NamedProperty {
  readonly label: string;
  readonly shape: ValueShape;
}

/** The properties of all rules by their names, nested ones too. */
function propertiesOf(rules: readonly RuleShape[]): ReadonlyMap<string, readonly NamedProperty[]> {
  const found = new Map<string, NamedProperty[]>();
  const visit = (label: string, shape: ValueShape): void => {
    for (const [name, inner] of shape.properties) {
      const known = found.get(name) ?? [];
      known.push({ label, shape: inner });
      found.set(name, known);
      visit(label, inner);
    }
    if (shape.items !== undefined) visit(label, shape.items);
  };
  for (const { label, shape } of rules) visit(label, shape);
  return found;
}

/** Finds names that are the same but for case, spaces, underscores and such. */
function nearNames(names: readonly string[], noun: string): readonly PlanRemark[] {
  const groups = new Map<string, string[]>();
  for (const name of names) {
    const plain = name.toLowerCase().replaceAll(/[^\p{L}\p{N}]/gu, '') || name;
    groups.set(plain, [...(groups.get(plain) ?? []), name]);
  }
  const near = [...groups.values()].filter(({ length }) => length > 1);
  return near.slice(0, MOST_REMARKS).map((group) => {
    const listed = group.toSorted((one, other) => (one < other ? -1 : 1)).map((name) => JSON.stringify(name));
    return { kind: 'near-names', text: `the ${noun} ${listed.join(', ')} differ only in their spelling` };
  });
}

function severalTypes(properties: ReadonlyMap<string, readonly NamedProperty[]>): readonly PlanRemark[] {
  const remarks = [...properties].flatMap(([name, all]): PlanRemark[] => {
    const types = new Map<string, string>();
    for (const { label, shape } of all) {
      for (const type of shape.types) {
        const general = type === 'integer' ? 'number' : type;
        if (general !== 'null' && !types.has(general)) types.set(general, label);
      }
    }
    if (types.size < 2) return [];
    const listed = [...types].map(([type, label]) => `${type} (${label})`);
    return [
      {
        kind: 'several-types',
        text: `the property ${JSON.stringify(name)} has the types ${listed.join(', ')}`,
      },
    ];
  });
  return remarks.slice(0, MOST_REMARKS);
}

function personalData(properties: ReadonlyMap<string, readonly NamedProperty[]>): readonly PlanRemark[] {
  const names = [...properties]
    .filter(([, all]) => all.some(({ shape }) => shape.isPersonal))
    .map(([name]) => name);
  if (names.length === 0) return [];
  const shown = names.toSorted((one, other) => (one < other ? -1 : 1)).slice(0, MOST_REMARKS);
  const more = names.length > MOST_REMARKS ? ` and ${names.length - MOST_REMARKS} more` : '';
  const listed = shown.map((name) => JSON.stringify(name)).join(', ');
  return [{ kind: 'personal-data', text: `these properties look like a person's data: ${listed}${more}` }];
}
