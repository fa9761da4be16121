import { joinedPath } from '../../message/path-pattern.ts';
import { CARD, isCardNumber } from './format-kinds.ts';
import { kindByLabel, LABEL } from './form-fields.ts';
import type { JsonPlace } from './json-tokens.ts';
import { ATTRIBUTE, FREE_TEXT, kindOfKey, OF_AN_ADDRESS, REGION, rowInPerson } from './kinds.ts';
import type { KnownValues, RedactedSpan } from './known-values.ts';
import { keyWords, wordsOfKey, type PersonalKind } from './personal-kind.ts';
import {
  eventOf,
  FULL_NAME,
  hasField,
  isMessage,
  isOfAPerson,
  OF_A_PERSON,
  OF_A_THING,
  subjectOf,
  textAt,
} from './subjects.ts';

/** Words of keys that are not personal, also in a person: `phone: {type, primary}`. */
const PLAIN = keyWords(
  'type|kind|object|entity ?name|primary|verified|\\S*status(?: \\S+)?|state|label|format|mime|algorithm|\\S*method|mode|currency|country(?: ?(?:code|id|name))?|(?:created|updated|deleted|changed)(?: ?at)?|time ?stamp|time ?zone|tz|(?:\\S+ )(?:at|ms|on)|date|time|since|seen|version|count|followers|size|width|height|length|duration|\\S*(?:source|origin)|metric|provider|strategy|locale|language|lang|accept ?language|unit|expires(?: ?in)?|exp(?:iry|iration|ires)? ?(?:month|year|date)?|scopes?|model|manufacturer|brand|os|platform|enabled|required|visible|position|order|index|role|\\S*plan|tier|\\S*level|\\S*stage|\\S*category|segment|tag|industry|department|division|gross|net|fee|cost|tax|discount|permissions?|flags?|amount|balance|total|spent|revenue|price|rating|score|utm \\S+|question|field|channel|theme|color|colour|reason|action|check|network|funding|agent|class|consent(?: ?\\S+)*|collection|exempt|optin|opt ?in|interests?|preferences?|discriminator|encoding|event|topic|operation|parameters?|environment',
);
/** Formats of values that are the same for many people. */
const COMMON =
  /^(?:.|True|False|Yes|No|n\/a|\$?[a-z]+|[a-z]+(?:[A-Z][a-z]+)+|-?\d{1,4}|-?\d+\.\d+|\d{4}-\d\d-\d\d(?:[T ][\d:.]+(?:Z|[+-][\d:]+)?)?|\d\d:\d\d(?::\d\d)?|v?\d+(?:\.\d+){1,3}|[A-Z]{2,3}|[a-z]{2,3}[-_][A-Z]\w{1,3}|#[\da-f]{3,8}|[A-Z][a-z]+\/[A-Z]\w+|[A-Z]+(?:_[A-Z]+)+|[a-z]+(?:_[a-z]+){2,}|(?:\w+:\/)?\/\w.*|urn:.*)$/s;
/** Matches what can be an id in a path, and not the name of an action. */
const IS_ID = /^(?!v\d+$|\d{4}-)(?:.*\d|[A-Z]{6,}$)/;
const IS_ID_KEY = keyWords('id|key|ref|reference|uid|identifier');
/** Words of keys whose values are one of a few words. */
const STRUCTURE = keyWords(
  'plan|role|tier|env|environment|time ?zone|tz|month|weekday|currency|locale|language|kind|type|action|level|stage|status|state|category|priority|material|sku|scope|permission',
);
/** Matches a text with a capitalized word, which can be a name. */
const WITH_A_NAME = /(?<!\p{L})\p{Lu}\p{Ll}/u;
/** Matches a time as HTTP writes it: `Fri, 20 Nov 2026 …`. */
const IS_TIME = /^[A-Z][a-z]{2}, \d/;
const MEDIA_TYPE = /^(?:application|text|image|audio|video|font|multipart)\/\S+/;

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
  const isPlain = row === ATTRIBUTE && named?.isInverted && (COMMON.test(value) || MEDIA_TYPE.test(value));
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
  const words = wordsAt(place, around);
  const isPlain = OF_A_THING.test(words) || (place.shape !== 'object' && PLAIN.test(words));
  const other = kindByOthers(words, place, around);
  if (other !== undefined || isPlain) return other;
  const outer = kindAround(words, around);
  if (outer !== undefined) return outer ?? undefined;
  place.isInverted = subject === 'person' || (subject === 'payment' && words !== 'id');
  // `account id` is the id of something else if the person also has an `id`.
  const isOfAccount = words === 'account id' && around.fields.some((field) => field.words === 'id');
  return place.isInverted && !isOfAccount ? (rowInPerson(words) ?? ATTRIBUTE) : undefined;
}

/** The words that say what a value is: `stage` for both `stage: {value}` and `{label: "Stage", value}`. */
function wordsAt({ key, words }: JsonPlace, around: JsonPlace): string {
  return /^values?$/.test(key) ? wordsOfKey(textAt(around, LABEL) ?? around.named?.key ?? key) : words;
}

/** Whether a kind is personal only if it is of a person, and the key has no word for one. */
function isOfPeople({ kind, isEntity }: PersonalKind, { words }: JsonPlace): boolean {
  return !OF_ALL.test(kind) && !isEntity && !OF_A_PERSON.test(words);
}

/** The kind that the key or a text beside the value names. */
function ownKind(place: JsonPlace): PersonalKind | undefined {
  const row = kindByLabel(place) ?? kindOfKey(place.key);
  return place.text !== undefined && row?.fits?.test(place.text) === false ? undefined : row;
}

/** The kind of keys that mean something only beside others: a state beside a city, the id of a group or of an event's object. */
function kindByOthers(words: string, { text = '' }: JsonPlace, around: JsonPlace): PersonalKind | undefined {
  if (REGION.test(words) && hasField(around, OF_AN_ADDRESS)) return STATE;
  const isOfMessage = words === 'group id' && (isMessage(around) || around.named?.key === 'context');
  const isId = words === 'object id' || (words === 'subject' && /^[\w-]+$/.test(text) && IS_ID.test(text));
  const isOfEvent = isId && isOfAPerson(eventOf(around) ?? '');
  return isOfMessage || isOfEvent ? kindOfKey('user id') : undefined;
}

/** The kind of the personal key around a value. Null for the id or the name of its field: `salary: {name, value}`. */
function kindAround(words: string, around: JsonPlace): PersonalKind | null | undefined {
  const outer = around.named && kindOfPlace(around.named);
  if (outer === undefined || outer.isEntity || around.named?.isInverted) return undefined;
  const isOfField =
    words === 'name' && (outer.kind === 'handle' || around.fields.some((other) => other.words === 'value'));
  return words === 'id' || isOfField ? null : outer;
}

/** Whether the value is a name that the format of messages has, so that it is no place for a known value. */
export function isFixed({ named, message }: JsonPlace): boolean {
  const isOfMessage = named?.key === 'name' && named.around === message && isMessage(message);
  return isOfMessage || /^(?:type|event|status|state)$/.test(named?.key ?? '');
}

/** The kind of a key that is the id of a person: `users: {"u_7": {…}}`. */
export function kindOfMapKey({ key, shape, around }: JsonPlace): PersonalKind | undefined {
  const isInMap = shape === 'object' && /[^s]s$/.test(around?.key ?? '');
  return isInMap && kindOfKey(key) === undefined ? kindInPath(around?.key ?? '', key) : undefined;
}

/** The kind of a part of a path behind a word for a person: `/users/1234`. */
export function kindInPath(before: string, part: string): PersonalKind | undefined {
  const row = before === '' || !IS_ID.test(part) ? undefined : kindOfKey(`${before} id`);
  return row?.inPerson === undefined ? undefined : row;
}

/** Whether a text is for people, so that it can hold names that no rule finds. */
export function isFreeText(text: string, place: JsonPlace): boolean {
  const words = place.named?.words ?? '';
  if (/(?:user agent|ua)$/.test(words)) return false;
  const count = text.split(/\s+/, 6).filter((word) => /\p{L}/u.test(word)).length;
  const isName = /(?:^| )name$/.test(words) && FULL_NAME.test(text);
  const isOfAThing = OF_A_THING.test(words) || STRUCTURE.test(words) || isFixed(place) || IS_TIME.test(text);
  const hasName = WITH_A_NAME.test(text) && !isOfAThing && !/(?:^| )name$/.test(words);
  return isName || count >= 4 || (count >= 2 && (hasName || FREE_TEXT.test(words)));
}

/** The kinds that a value only seems to have: a version can look like an IP address, a plan or header like a name. */
export function seemingKinds({ named }: JsonPlace, value: string): readonly string[] {
  const words = named?.words ?? '';
  if (/(?:version|user agent|ua|build)$/.test(words)) return ['ip', 'name'];
  const isOfHeader = named?.around?.named?.key === 'headers' && !FREE_TEXT.test(words);
  const isStructure = !/[@=\s]/.test(value) && (isOfHeader || STRUCTURE.test(words));
  return isStructure || MEDIA_TYPE.test(value) || /^[A-Z]{2}$/.test(value) ? ['name'] : [];
}

/** Finds a known value in a number. One that equals an id is the id if it is long, in a list, or has the key of an id. */
export function knownNumber({ place, known }: RedactedField, raw: string): RedactedSpan | undefined {
  const { isItem, named } = place;
  const canBeId = isItem || raw.length > 8 || IS_ID_KEY.test(named?.words ?? '');
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

/** Whether a pattern of --keep or --drop matches the path of a value, or its path in the message of a batch or list. */
export function isAt(rules: RedactionRules, name: 'keep' | 'drop', place: JsonPlace): boolean {
  if (rules[name].length === 0) return false;
  const joined = [joinedPath(place.path), joinedPath(place.inMessage)];
  const matching = rules[name].filter((pattern) => joined.some((each) => pattern.test(each)));
  for (const pattern of matching) rules.used.add(pattern);
  return matching.length > 0;
}
