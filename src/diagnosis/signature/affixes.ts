import type { ReasonCode } from '../../signature/reasons.ts';
import type { Applicable, Cost } from './change.ts';

/** A text that one side has before or after the secret or the body, and the other side does not. */
interface Affix {
  /** Name of the text, as it follows "with": `a newline`. */
  readonly what: string;
  readonly before?: string;
  readonly after?: string;
  /** Cost of adding the text. Removing it costs 1, because few secrets and bodies have it. */
  readonly cost: Cost;
  readonly code: ReasonCode;
  /** The cost for bodies; undefined if bodies are not tried with the text. */
  readonly bodyCost?: Cost;
}

const code = 'trimmed-secret';
const AFFIXES: readonly Affix[] = [
  { what: 'a newline', after: '\n', cost: 1, code, bodyCost: 1 },
  { what: 'CRLF', after: '\r\n', cost: 1, code, bodyCost: 2 },
  { what: 'a space', after: ' ', cost: 1, code, bodyCost: 1 },
  { what: 'a tab', after: '\t', cost: 2, code },
  { what: 'a carriage return', after: '\r', cost: 2, code },
  { what: 'a space', before: ' ', cost: 2, code },
  { what: 'a space', before: ' ', after: ' ', cost: 2, code },
  { what: 'a byte order mark', before: '\ufeff', cost: 3, code },
  { what: 'double quotes', before: '"', after: '"', cost: 1, code: 'quoted-secret' },
  { what: 'single quotes', before: "'", after: "'", cost: 1, code: 'quoted-secret' },
  ...['HOOKS_SECRET=', 'WEBHOOK_SECRET=', 'SHARED_SECRET=', 'SECRET=', 'whsec_', 'Bearer '].map(
    (before): Affix => ({ what: before.trim(), before, cost: 2, code: 'misread-secret' }),
  ),
];

/** The changes that add an affix to a secret or remove it. */
export function secretAffixChanges(): readonly Applicable<string>[] {
  return AFFIXES.flatMap((affix) => changesOf(affix, 'the secret'));
}

/** The changes that add an affix to a body or remove it. They take the body as a string. */
export function bodyAffixChanges(): readonly Applicable<string>[] {
  return AFFIXES.flatMap(({ bodyCost: cost, ...affix }) =>
    cost ? changesOf({ ...affix, cost, code: 'trailing-newline' }, 'the body') : [],
  );
}

function changesOf(affix: Affix, whole: string): readonly Applicable<string>[] {
  const { what, before = '', after = '', cost, code: affixCode } = affix;
  const place = before === '' ? 'at the end of' : after === '' ? 'before' : 'around';
  return [
    {
      code: affixCode,
      would: `with ${what} ${place} ${whole}`,
      isAddition: true,
      cost,
      apply: (text) => before + text + after,
    },
    {
      code: affixCode,
      would: `without ${what.replace(/^an? /, 'the ')} ${place} ${whole}`,
      cost: 1,
      apply: (text) =>
        text.length >= before.length + after.length && text.startsWith(before) && text.endsWith(after)
          ? text.slice(before.length, text.length - after.length)
          : undefined,
    },
  ];
}
