import type { ReasonCode } from '../../signature/reasons.ts';
import type { Applicable, Cost } from './change.ts';

/** Text before, after or around a secret or body, such as a newline, that only the sender or only the receiver has. */
interface Affix {
  /** Name of the text, to follow the word "with": `a newline`. */
  readonly what: string;
  readonly before?: string;
  readonly after?: string;
  /** How unlikely it is that the text was added. Removing it costs 1, because few secrets or bodies should have it. */
  readonly cost: Cost;
  readonly code: ReasonCode;
  /** Cost of adding the text to a body. Undefined if the text is tried only with secrets. */
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

/** Returns two changes for each affix: one adds the affix to a secret, the other removes it. */
export function secretAffixChanges(): readonly Applicable<string>[] {
  return AFFIXES.flatMap((affix) => changesOf(affix, 'the secret'));
}

/** Returns two changes for each affix that has a `bodyCost`: one adds the affix to a body, the other removes it. */
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
