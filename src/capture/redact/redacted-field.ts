import { joinedPath } from '../../message/path-pattern.ts';
import { CARD, isCardNumber } from './format-kinds.ts';
import type { JsonPlace } from './json-tokens.ts';
import { ATTRIBUTE, FREE_TEXT, OF_AN_ADDRESS, PERSONAL_KINDS, REGION } from './kinds.ts';
import type { KnownValues, RedactedSpan } from './known-values.ts';
import { keyWords, wordsOfKey, type PersonalKind } from './personal-kind.ts';
import {
  entityOf,
  eventOf,
  hasField,
  isMessage,
  isPersonWord,
  OF_A_PERSON,
  OF_A_THING,
  subjectOf,
} from './subjects.ts';

const IS_FULL_NAME = /^\p{Lu}[\p{Ll}'-]+(?: \p{Lu}[\p{L}'.-]*)+$/u;
/** Words of keys that are not personal, also in a person: `phone: {type, primary}`. */
const PLAIN = keyWords(
  'type|kind|object|primary|verified|\\S*status(?: \\S+)?|state|label|format|mime|algorithm|\\S*method|mode|currency|country(?: ?(?:code|id|name))?|(?:created|updated|deleted|changed)(?: ?at)?|time ?stamp|time ?zone|tz|(?:\\S+ )(?:at|ms|on)|date|time|since|seen|version|count|followers|size|width|height|length|duration|\\S*source|provider|strategy|locale|language|lang|accept ?language|unit|expires(?: ?in)?|exp(?:iry|iration|ires)? ?(?:month|year|date)?|scopes?|model|manufacturer|brand|os|platform|enabled|required|visible|position|order|index|role|\\S*plan|tier|\\S*level|\\S*stage|\\S*category|segment|tag|industry|department|division|gross|net|fee|cost|tax|discount|permissions?|flags?|amount|balance|total|spent|revenue|price|rating|score|utm \\S+|question|field|channel|theme|color|colour|reason|action|check|network|funding|agent|class|consent(?: ?\\S+)*|collection|exempt|optin|opt ?in|interests?|preferences?|discriminator|encoding|event|topic|operation|parameters?|environment',
);
/** Formats of values that are the same for many people. */
const COMMON =
  /^(?:.|true|false|True|False|yes|no|Yes|No|on|off|none|null|n\/a|unknown|default|\d{1,4}|\d+\.\d+|\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-][\d:]+)?)?|\d\d:\d\d(?::\d\d)?|(?:application|text|image|audio|video|font|multipart)\/[\w.+-]+|v?\d+(?:\.\d+){1,3}|[A-Z]{2,3}|[a-z]{2,3}(?:[-_][A-Z]\w{1,3})?|#[\da-f]{3,8}|[A-Z][a-z]+\/[A-Z]\w+|[A-Z]+(?:_[A-Z]+)+|[a-z]+(?:_[a-z]+){2,})$/;
/** Words of keys whose value belongs to the field that another text of the object names: `{name: "ssn", value}`. */
const VALUE =
  /^(?:(?:\S+ )?(?:value|ans(?:wer)?|text|input|response)s?|(?:from|to|old|new)(?: ?(?:string|value))?|date)$/;
/** Matches what can be an id in a path, and not the name of an action. */
const IS_ID = /^(?!v\d+$|\d{4}-)(?:.*\d|[A-Z]{6,}$)/;
/** Number of values of an object that can name the field of another, so that many keys take linear time. */
const MOST_TO_ASK = 40;
const ID = /^id$/;
const IS_ID_KEY = keyWords('id|key|ref|reference|uid|identifier');
/** Words of keys whose values are one of a few words. */
const STRUCTURE = keyWords(
  'plan|role|tier|env|environment|time ?zone|tz|month|weekday|currency|locale|language|kind|type|action|level|stage|status|state|category|priority|material|sku|scope|permission',
);
const JUST_VALUE = /^value$/;
/** Keys of texts that name the field of another value, or of an object that describes it. */
const NAMING =
  /^(?:name|key|field|ref|label|title|question|property|attribute|definition|property name|type)$/;

/** A value, and what is known of its message. */
export interface RedactedField {
  readonly place: JsonPlace;
  readonly known: KnownValues;
}

/** Kinds that organizations have too. Their names, ids and addresses are public. */
const OF_ALL = /^(?:token|email|phone|national id|bank|card)$/;
/** A state or region beside a city. */
const STATE: PersonalKind = { kind: 'address', fits: /^\p{Lu}/u };

/** Finds the kind of a value by its key and by what the object around it describes. */
export function kindOfValue({ named, isItem }: JsonPlace, value: string): PersonalKind | undefined {
  const row = named && kindOfPlace(named);
  if (row === undefined) return undefined;
  // A number under a word for many is a count: `logins`.
  if (!isItem && /^\d{1,4}$/.test(value) && /[^s]s$/.test(named?.key ?? '')) return undefined;
  const isPlain =
    row === ATTRIBUTE && named?.isInverted && (COMMON.test(value) || /^(?:\w+:\/)?\/\w/.test(value));
  if (isPlain) return undefined;
  return row.fits === undefined || row.fits.test(value) ? row : undefined;
}

/** Finds the kind of a number. That of a card needs no key. */
export function kindOfNumber(place: JsonPlace, raw: string): PersonalKind | undefined {
  return kindOfValue(place, raw) ?? (isCardNumber(raw) ? CARD : undefined);
}

function kindOfPlace(place: JsonPlace): PersonalKind | undefined {
  if (place.kind === undefined) place.kind = findKind(place) ?? null;
  return place.kind ?? undefined;
}

/** The kind by the key, by the values beside it, by a personal key around it, and else by the person around it. */
function findKind(place: JsonPlace): PersonalKind | undefined {
  const { around } = place;
  const own = ownKind(place);
  if (around === undefined) return own;
  const subject = subjectOf(around);
  if (own !== undefined) return subject === 'organization' && isOfPeople(own, place) ? undefined : own;
  // `stage: {value}` is as `stage`.
  const words = wordsOfKey(/^values?$/.test(place.key) ? (around.named?.key ?? place.key) : place.key);
  const isPlain = OF_A_THING.test(words) || (place.shape !== 'object' && PLAIN.test(words));
  const other = kindByOthers(words, around);
  if (other !== undefined || isPlain) return other;
  const outer = kindAround(words, around);
  if (outer !== undefined) return outer ?? undefined;
  place.isInverted = subject === 'person' || (subject === 'payment' && words !== 'id');
  return place.isInverted && !isOfAccount(words, around) ? (rowInPerson(words) ?? ATTRIBUTE) : undefined;
}

/** Whether a kind is personal only if it is of a person, and the key has no word for one. */
function isOfPeople({ kind, isEntity }: PersonalKind, { key }: JsonPlace): boolean {
  return !OF_ALL.test(kind) && !isEntity && !OF_A_PERSON.test(wordsOfKey(key));
}

/** The kind that the key or a text beside the value names. */
function ownKind(place: JsonPlace): PersonalKind | undefined {
  const row = kindBeside(place) ?? kindOfKey(place.key);
  return place.text !== undefined && row?.fits?.test(place.text) === false ? undefined : row;
}

/** The kind of keys that mean something only beside others: a state beside a city, the id of a group or of an event's object. */
function kindByOthers(words: string, around: JsonPlace): PersonalKind | undefined {
  if (REGION.test(words) && hasField(around, OF_AN_ADDRESS)) return STATE;
  const isOfMessage = words === 'group id' && (isMessage(around) || around.named?.key === 'context');
  const isOfEvent = words === 'object id' && isPersonWord(entityOf(eventOf(around) ?? ''));
  return isOfMessage || isOfEvent ? kindOfKey('user id') : undefined;
}

/** The kind of the personal key around a value. Null if there is one, but the value is its id or its name. */
function kindAround(words: string, around: JsonPlace): PersonalKind | null | undefined {
  const outer = around.named && kindOfPlace(around.named);
  if (outer === undefined || outer.isEntity || around.named?.isInverted) return undefined;
  return words === 'id' || (words === 'name' && isDescribed(around, outer)) ? null : outer;
}

/** Whether the key is the id of an account, which is another thing if the person has an id. */
function isOfAccount(words: string, around: JsonPlace): boolean {
  return words === 'account id' && hasField(around, ID);
}

/** Whether the value is a name that the format of messages has, so that it is no place for a known value. */
export function isFixed({ named, message }: JsonPlace): boolean {
  if (named === undefined) return false;
  return (
    /^(?:type|event|status|state)$/.test(named.key) ||
    (named.key === 'name' && named.around === message && isMessage(message))
  );
}

/** Whether the name in an object is that of its field: `salary: {name, value}`. */
function isDescribed(object: JsonPlace, { kind }: PersonalKind): boolean {
  return kind === 'handle' || hasField(object, JUST_VALUE);
}

/** The kind that a text beside the value, or in the object that describes it, names. */
function kindBeside(place: JsonPlace): PersonalKind | undefined {
  const words = wordsOfKey(place.key);
  const fields = place.around?.fields.slice(0, MOST_TO_ASK) ?? [];
  const isOfItsType = fields.some(({ key, text }) => text === place.key && wordsOfKey(key) === 'type');
  if (!isOfItsType && !VALUE.test(words)) return undefined;
  const naming = fields.filter((field) => {
    const name = wordsOfKey(field.key);
    return field !== place && !VALUE.test(name) && (name !== 'type' || words === 'value');
  });
  const texts = naming.flatMap((field) =>
    NAMING.test(wordsOfKey(field.key)) ? [field, ...field.fields] : [field],
  );
  for (const { text = '' } of texts) {
    const row = kindOfKey(text.replace(/^(?:your )?name\W*$/i, 'first name'));
    if (row !== undefined && (words !== 'date' || row.kind === 'birth')) return row;
  }
  return undefined;
}

const MOST_CACHED = 10_000;
const kindsByWords = new Map<string, PersonalKind | undefined>();

/** Finds the kind that a key alone names. */
export function kindOfKey(key: string): PersonalKind | undefined {
  const words = wordsOfKey(key);
  if (kindsByWords.has(words)) return kindsByWords.get(words);
  const plain = words.replace(/ ?\d+$/, '');
  const row =
    PERSONAL_KINDS.find(({ keys }) => keys !== undefined && (keys.test(words) || keys.test(plain))) ??
    rowOfAPerson(plain);
  if (kindsByWords.size > MOST_CACHED) kindsByWords.clear();
  kindsByWords.set(words, row);
  return row;
}

/** The kind of a key with a word for a person and one of its values: `customer id`, `user external id`. */
function rowOfAPerson(words: string): PersonalKind | undefined {
  const rest = words.replace(OF_A_PERSON, '');
  const last = rest.replace(/^(?:external|internal|unique|original|alternate) /, '');
  return rest === words || last.includes(' ') ? undefined : rowInPerson(last);
}

/** The kind that the words of a key name in a person. */
function rowInPerson(words: string): PersonalKind | undefined {
  return OF_A_THING.test(words) ? undefined : PERSONAL_KINDS.find(({ inPerson }) => inPerson?.test(words));
}

/** The kind of a part of a path behind a word for a person: `/users/1234`. */
export function kindInPath(before: string, part: string): PersonalKind | undefined {
  const row = before === '' || !IS_ID.test(part) ? undefined : kindOfKey(`${before} id`);
  return row?.inPerson === undefined ? undefined : row;
}

/** Whether a text is for people, so that it can hold names that no rule finds. */
export function isFreeText(text: string, place: JsonPlace): boolean {
  const words = wordsOfKey(place.named?.key ?? '');
  if (/(?:user agent|ua)$/.test(words)) return false;
  const count = text.split(/\s+/, 6).filter((word) => /\p{L}/u.test(word)).length;
  return (
    count >= 4 ||
    (count >= 2 && FREE_TEXT.test(words)) ||
    (/(?:^| )name$/.test(words) && IS_FULL_NAME.test(text))
  );
}

/** The kind that a value only seems to have: a version can look like an address, and the word of a plan like a name. */
export function seemingKind(place: JsonPlace, value: string): string {
  const words = wordsOfKey(place.named?.key ?? '');
  if (/(?:version|user agent|ua|build)$/.test(words)) return 'ip';
  return !/\s/.test(value) && STRUCTURE.test(words) ? 'name' : '';
}

/** Finds a known value in a number. One that equals an id is the id if it is long, in a list, or has the key of an id. */
export function knownNumber({ place, known }: RedactedField, raw: string): RedactedSpan | undefined {
  const { isItem, named } = place;
  const canBeId = isItem || raw.length > 8 || IS_ID_KEY.test(wordsOfKey(named?.key ?? ''));
  return [...known.spansIn(raw)].find(({ kind }) => canBeId || !/id|token|name/.test(kind));
}

export interface RedactionRules {
  /** Patterns of paths (`pathPattern`) whose values stay as they are. */
  readonly keep: readonly RegExp[];
  /** Patterns of paths whose values are removed. */
  readonly drop: readonly RegExp[];
  /** The patterns that matched a value of any request. */
  readonly used: Set<RegExp>;
}

/** Whether a pattern of --keep or --drop matches a path. */
export function isAt(rules: RedactionRules, name: 'keep' | 'drop', path: readonly string[]): boolean {
  if (rules[name].length === 0) return false;
  const joined = joinedPath(path);
  const matching = rules[name].filter((pattern) => pattern.test(joined));
  for (const pattern of matching) rules.used.add(pattern);
  return matching.length > 0;
}

export function isKeptPlace(rules: RedactionRules, { path, inMessage }: JsonPlace): boolean {
  return isAt(rules, 'keep', path) || isAt(rules, 'keep', inMessage);
}
