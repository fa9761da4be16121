import { createHash } from 'node:crypto';
import type { PlanRule } from '../rule.ts';

/** Names of types by the type of their rule. Other types of rules have no properties or traits of their own. */
const CONTENT_NAMES: Partial<Readonly<Record<PlanRule['type'], string>>> = {
  identify: 'IdentifyTraits',
  group: 'GroupTraits',
  page: 'PageProperties',
  screen: 'ScreenProperties',
};

/** Names that types of a plan never get: those of the file itself, and the types of TypeScript that the file uses. */
const RESERVED = [
  ...Object.values(CONTENT_NAMES),
  'TrackEvents',
  'PlannedCall',
  'PlannedArguments',
  'ReturnType',
  'Parameters',
  'Omit',
  'Record',
  'Reflect',
];

/** Chooses names for the types of a plan, each different. */
export class TypeNames {
  readonly #taken = new Set(RESERVED);

  /**
   * The name of a rule's type: `OrderCompleted`, `OrderCompletedV2`. Undefined for a rule without properties or traits of its
   * own. Names depend on the order of the calls, so callers sort the rules.
   */
  ofRule({ type, event, version }: PlanRule): string | undefined {
    const suffix = version === 1 ? '' : `V${version}`;
    if (type === 'track') return this.free(eventName(event ?? '') + suffix);
    const name = CONTENT_NAMES[type];
    return name === undefined || suffix === '' ? name : this.free(name + suffix);
  }

  /** The first free name among `name`, `name2`, `name3`, …. Marks it as taken. */
  free(name: string): string {
    for (let count = 1; ; count++) {
      const numbered = count === 1 ? name : `${name}${count}`;
      if (this.#taken.has(numbered)) continue;
      this.#taken.add(numbered);
      return numbered;
    }
  }
}

/** The ASCII letters and digits of a text as one name. Accents are dropped; empty if nothing remains. */
export function pascalCase(text: string): string {
  const words =
    text
      .normalize('NFKD')
      .replaceAll(/\p{M}/gu, '')
      .match(/[A-Za-z]+|\d+/g) ?? [];
  return words
    .map((word) => word[0]?.toUpperCase() + word.slice(1))
    .join('')
    .slice(0, MOST_LETTERS);
}

const MOST_LETTERS = 80;

/** An event without ASCII letters and digits is named by its hash, which does not depend on the other events. */
function eventName(event: string): string {
  const name =
    pascalCase(event) || createHash('sha256').update(event).digest('hex').slice(0, 8).toUpperCase();
  return /^[A-Z]/.test(name) && pascalCase(event) !== '' ? name : `Event${name}`;
}
