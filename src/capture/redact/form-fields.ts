import { decodedText, formKeys } from './encodings.ts';
import { JsonPlace, setText } from './json-tokens.ts';
import { kindOfKey } from './kinds.ts';
import { wordsOfKey, type PersonalKind } from './personal-kind.ts';
import { eventAround, factOf, textAt } from './subjects.ts';

/** Matches the words of keys for the value of a field that a text beside it names: `{name: "ssn", value}`. */
const VALUE =
  /^(?:(?:\S+ )?(?:value|ans(?:wer)?|text|input|response)s?|(?:from|to|old|new|current|previous)(?: ?(?:string|value))?|date)$/;
/** Maximum number of values of an object to search for the name of a field, so that many keys take linear time. */
const MOST_TO_ASK = 40;
/** Matches the words of keys for the name of a field, or for an object with its name: `{field: {title: "ssn"}, value}`. */
const NAMING =
  /^(?:(?:\S+ )?(?:label|title|question)|(?:property |field |attribute )?name|key|field|ref|property|attribute|definition|path|type|system|(?:field|question) id)$/;
/** Matches keys for the name of what an object describes. */
export const LABEL = /(?:title|label|question)$/i;
/** Matches the words before and after the label of a field in a question: `what is your phone`, `phone required`. */
const AROUND_A_LABEL =
  /^(?:(?:what|where|when|which|who|please|enter|is|are|s|was|were|did|do|your|you|the|my) )+|(?: (?:required|optional))+$/g;
/** Patterns of values by the kind that a text beside them names. If a value does not match, the text is the name of a thing. */
const FORMS: Readonly<Record<string, RegExp>> = {
  email: /@/,
  phone: /^(?!\d{4}-\d\d-\d\d)(?:\D*\d){7}/,
  birth: /^(?:19|20)\d\d$|^\d{8}$|\d[-/. ]\d|\p{L}/u,
  name: /\p{L}/u,
  address: /\p{L}|\d{5}/u,
  'national id': /\d.*\p{L}|\p{L}.*\d|^[^.]*(?:\d[^.\d]*){5}$/u,
};

/** How to redact `name=value&…`. */
export interface FormOptions {
  /** Whether it is the query of a URL, in which secrets are masked by their name. */
  readonly isQuery: boolean;
  /** Keys around the form. */
  readonly path: readonly string[];
}

/** Splits a form into its pairs. A query does not describe a person, but a `name` with a space in it is a person's name. */
export function formFields(
  text: string,
  { isQuery, path }: FormOptions,
): readonly { readonly pair: string; readonly value: string; readonly place: JsonPlace }[] {
  const root = new JsonPlace();
  const known = new Map([['', root]]);
  if (isQuery) root.subject = 'thing';
  return text.split('&').map((pair) => {
    const value = decodedText(pair.slice(pair.indexOf('=') + 1), true);
    const isFullName = isQuery && /\S \S/.test(value);
    const keys = formKeys(pair).map((key) => (isFullName && key === 'name' ? 'fullName' : key));
    const place = placeOfPath([...path, ...keys], known);
    setText(place, value);
    return { pair, value, place };
  });
}

/** The place of a value outside of JSON, such as a header. `known` holds the places that the values of one form share. */
export function placeOfPath(path: readonly string[], known = new Map([['', new JsonPlace()]])): JsonPlace {
  return path.reduce(
    (around, key, at) => {
      const name = path.slice(0, at + 1).join('\0');
      const place = known.get(name) ?? new JsonPlace(around, key, /^\d+$/.test(key));
      around.shape = 'object';
      known.set(name, place);
      return place;
    },
    known.get('') ?? new JsonPlace(),
  );
}

/**
 * The kind of a value whose field a text names: a text beside the value or in an object beside it, the label of the field with
 * that id, or, for a current or previous value, the name of the event.
 */
export function kindByLabel({
  around,
  key,
  words,
  text: value,
  message,
}: JsonPlace): PersonalKind | undefined {
  const fields = around?.fields.slice(0, MOST_TO_ASK) ?? [];
  const isOfItsType = fields.some((field) => field.text === key && field.words === 'type');
  if (around === undefined || (!isOfItsType && !VALUE.test(words))) return undefined;
  const isNaming = (name: string): boolean =>
    NAMING.test(name) && (words === 'value' || !/^(?:type|system)$/.test(name));
  const naming = fields.filter((field) => isNaming(field.words));
  const texts = naming.flatMap((field) => [field, ...field.fields]).map(({ text = '' }) => text);
  const changed = /^(?:current|previous)$/.test(words) ? eventAround(around).replace(/_\w+$/, '') : '';
  const labels = factOf(message, LABEL, () => labelsIn(message));
  for (const text of [...texts, changed]) {
    const row = kindOfLabel(labels.get(text) ?? text);
    const isOfForm = value === undefined || (FORMS[row?.kind ?? '']?.test(value) ?? true);
    if (row !== undefined && isOfForm && (words !== 'date' || row.kind === 'birth')) return row;
  }
  return undefined;
}

/** The labels of the fields of a form, by their ids. */
function labelsIn(place: JsonPlace, labels = new Map<string, string>()): ReadonlyMap<string, string> {
  const [id, label] = [textAt(place, /^id$/), textAt(place, LABEL)];
  if (id !== undefined && label !== undefined) labels.set(id, label);
  for (const each of [...place.fields, ...place.items]) labelsIn(each, labels);
  return labels;
}

/** The kind that a label names. A label with spaces can have only one word before the name of the kind. */
function kindOfLabel(label: string): PersonalKind | undefined {
  const words = wordsOfKey(label)
    .replaceAll(AROUND_A_LABEL, '')
    .replace(/^name$/, 'first name');
  const row = kindOfKey(words);
  const before = words.slice(0, row?.keys?.exec(words)?.index ?? 0);
  return /\s/.test(label) && /[^\p{L}]/u.test(before) ? undefined : row;
}
