import type { JsonPlace } from './json-tokens.ts';
import { keyWords, wordsOfKey, type SubjectKind } from './personal-kind.ts';

/** Words for people. */
const PEOPLE =
  'user|customer|contact|member|person|people|invitee|visitor|subscriber|player|patient|employee|student|teacher|guest|passenger|driver|buyer|seller|shopper|author|owner|sender|recipient|assignee|creator|reporter|requester|submitter|commenter|reviewer|approver|organizer|attendee|participant|signer|payer|consumer|cardholder|applicant|donor|spouse|candidate|purchaser|recruiter|supervisor|worker|resident|individual|learner|instructor|speaker|inviter|contractor|courier|beneficiary|insured|viewer|friend|committer|pusher|child(?:ren)?|alias(?:es)?';
/** Words that are also used for things, and mean people only with other values beside or below them. */
const ROLES =
  'profile|billing|shipping|traits|lead|agent|actor|manager|holder|device|caller|callee|claimant|witness(?:es)?|nurse|doctor|physician|practitioner|landlord|dependents?|winner|opponent|watcher|adjuster|referrer|from|to|cc|bcc';
const DETAILS = '(?: (?:info|data|details?|account|attributes|full|entity|record|object))*';
const PERSON = keyWords(`(?:${PEOPLE}|${ROLES})${DETAILS}`);
const PAYMENT = keyWords(
  `(?:(?:credit|debit|payment) ?card|bank ?account|payment ?(?:method|source|instrument)|sepa ?debit|wallet)${DETAILS}`,
);
const ORGANIZATIONS =
  'organi[sz]ation|org|company|companies|merchant|store|shop|team|workspace|business|vendor|brand|supplier|guild|portal|tenant|bank';
const ORGANIZATION = keyWords(`(?:${ORGANIZATIONS})${DETAILS}`);
const THINGS =
  'plan|product|order|event|subscription|campaign|app|application|library|item|invoice|project|repository|repo|issue|ticket|page|screen|os|browser|network|list|group|channel|license|tag|segment|form|message|price|payment|charge|transaction|discount|coupon|policy|quota|stats?|settings|tracking|meeting|conversation|file|label|field|question|definition|entry|submission|directory|calendar|appointment|pool|report';
const THING = keyWords(`(?:${THINGS}|link)${DETAILS}`);
/** Matches keys that refer to a thing or an organization, also inside of a person: `plan id`, `company name`. */
export const OF_A_THING = keyWords(
  `(?:${THINGS}|${ORGANIZATIONS})(?: (?:\\S?ids?|name|number|key|code|size|url|title|type|class|prefix))*|acc(?:oun)?t name|orgname`,
);
/** Matches a word for a person at the end of a key: `gift recipient`, `approved by`. */
export const REFERENCE = `${PEOPLE}|(?:created|updated|modified|invited|assigned|approved|owned|signed) ?(?:by|to)|user ?ref`;
/** Finds what follows the last word for a person in a key: `id` in `customer id` and `customerid`. */
export const OF_A_PERSON = new RegExp(
  `(?:^|.* )(?:${PEOPLE}|${ROLES}|account ?holder|emergency contact)(?: s)?s?(?: |(?<=\\S{4}))(?=\\S)`,
  'u',
);

/** Keys of the data of an event, whose name tells what they describe. */
const TRANSPARENT =
  /^(?:data|object|payload|resource|entity|item|record|current|previous|attributes|previous attributes|properties|fields|merge fields|merges|body|details?|old|new|before|after|sobject|snapshot|values|content)$/;
const VALUES = /^(?:properties|attributes|fields|merge fields|merges|profile)$/;
const DISCRIMINATOR = /^(?:(?:object|resource|entity|record|model)(?: ?(?:type|kind|name))?|type|kind)$/;
const EVENT =
  /^(?:event(?: (?:name|type|code|kind))?|topic|trigger event|webhook event|subscription type|table|type|action)$/;
const MESSAGE = /^(?:identify|track|page|screen|group|alias)$/;
const ABOUT_THE_VERB = /^(?:property|profile|field|status|info|data|details?|account)$/;

/** Keys that only people have. */
const PERSONAL_FIELDS = [
  /^(?:e ?mail(?: ?address)?)$/,
  /^(?:(?:mobile|cell|home|work)? ?phone(?: ?number)?|mobile|msisdn)$/,
  /^(?:(?:first|given) ?name|f ?name|given|first|nick ?name|full ?name)$/,
  /^(?:(?:last|family) ?name|sur ?name|l ?name|family|last)$/,
  /^(?:birth ?(?:day|date)|date ?of ?birth|dob|avatar(?: ?url)?|gender|age|ssn)$/,
];
/** Keys of sales and of messages, which have a person among other things. */
const OF_ANOTHER =
  /^(?:body|subject|text|html|message)$|(?:^| )(?:amount|price|subtotal|total|gross|fee|quantity|line items|items|products|(?:order|transaction|txn|message|event) ?(?:id|number))$/;
const PAYMENT_FIELD =
  /^(?:last ?(?:4|four)|iban|bban|iin|bin|mask|cvc|account ?number|routing ?number|exp(?:iry)? ?month)$/;

/** Returns what an object describes: by its own type, by its key, by the name of its event, then by its fields. */
export function subjectOf(object: JsonPlace): SubjectKind {
  object.subject ??= findSubject(object);
  return object.subject;
}

function findSubject(object: JsonPlace): SubjectKind {
  const around = object.named?.around;
  const words = object.named === undefined ? '' : wordsOfKey(object.named.key);
  const told = typeOf(object) ?? subjectOfKey(words, around);
  if (told !== undefined) return told;
  if (isMessage(around) || isMessage(object)) return 'thing';
  return subjectByContent(object, words) ?? (around === undefined ? 'thing' : subjectOf(around));
}

function subjectByContent(object: JsonPlace, words: string): SubjectKind | undefined {
  const hasPeople = hasPerson(object);
  const isOfEvent = !hasPeople && (words === '' || TRANSPARENT.test(words)) && !hasPayload(object);
  if (isOfEvent && isPersonWord(entityAround(object))) return 'person';
  if (eventOf(object) !== undefined) return 'thing';
  if (hasPeople) return undefined;
  const count = personalFields(object);
  const isOther = hasField(object, OF_ANOTHER);
  if (count > 2 || (count > 0 && !isOther)) return 'person';
  const isPayment = object.fields.some(
    ({ key, text }) => text !== undefined && PAYMENT_FIELD.test(wordsOfKey(key)),
  );
  return isPayment ? 'payment' : undefined;
}

/** The subject that the object itself names: `object: "customer"`, `type: "User"`. */
function typeOf({ fields }: JsonPlace): SubjectKind | undefined {
  for (const { key, text } of fields) {
    const words = text === undefined || !DISCRIMINATOR.test(wordsOfKey(key)) ? '' : wordsOfKey(text);
    const found = words === '' ? undefined : subjectOfWords(words, true);
    if (found !== undefined) return found;
    if (key === 'object' && words !== '') return 'thing';
  }
  return undefined;
}

function subjectOfKey(words: string, around: JsonPlace | undefined): SubjectKind | undefined {
  if (words === 'traits' && textAt(around, /^type$/) === 'group') return 'organization';
  return subjectOfWords(words, false);
}

const SUBJECTS: readonly (readonly [pattern: RegExp, subject: SubjectKind])[] = [
  [PAYMENT, 'payment'],
  [PERSON, 'person'],
  [ORGANIZATION, 'organization'],
  [THING, 'thing'],
];

function subjectOfWords(words: string, isWhole: boolean): SubjectKind | undefined {
  const isFound = (index = -1): boolean => (isWhole ? index === 0 : index >= 0);
  return SUBJECTS.find(([pattern]) => isFound(pattern.exec(words)?.index))?.[1];
}

export function isPersonWord(words: string): boolean {
  return subjectOfWords(words, true) === 'person';
}

/** Whether a value is a message of Segment, which has its ids and names beside the values of the event. */
export function isMessage(place: JsonPlace | undefined): boolean {
  return place !== undefined && once(place, MESSAGE, () => MESSAGE.test(textAt(place, /^type$/) ?? ''));
}

/** Whether an object has a value whose key has these words. */
export function hasField(object: JsonPlace, words: RegExp): boolean {
  return once(object, words, () => object.fields.some(({ key }) => words.test(wordsOfKey(key))));
}

const knownFacts = new WeakMap<JsonPlace, Map<RegExp, unknown>>();

/** Remembers what was found in an object, so that many values of one object take linear time. */
function once<T>(object: JsonPlace, question: RegExp, find: () => T): T {
  const known = knownFacts.get(object) ?? new Map<RegExp, unknown>();
  knownFacts.set(object, known);
  if (!known.has(question)) known.set(question, find());
  return known.get(question) as T; // each question has results of one type
}

function textAt(place: JsonPlace | undefined, key: RegExp): string | undefined {
  return place?.fields.find((field) => field.text !== undefined && key.test(field.key))?.text;
}

function hasPerson({ fields }: JsonPlace): boolean {
  return fields.some(({ key, shape }) => {
    const words = wordsOfKey(key);
    return (shape === 'object' || shape === 'list') && !VALUES.test(words) && PERSON.test(words);
  });
}

/** The number of personal fields of an object, also of those in `properties`. */
function personalFields({ fields }: JsonPlace): number {
  const all = fields.flatMap((field) => (VALUES.test(wordsOfKey(field.key)) ? field.fields : [field]));
  const words = all
    .filter(({ shape, text }) => shape !== undefined && !/^\d{1,4}$/.test(text ?? ''))
    .map(({ key }) => wordsOfKey(key));
  return PERSONAL_FIELDS.filter((pattern) => words.some((each) => pattern.test(each))).length;
}

/** The name of the event that an object is. */
export function eventOf(object: JsonPlace): string | undefined {
  return once(object, EVENT, () => object.fields.find(isEventName)?.text);
}

function isEventName({ key, text }: JsonPlace): boolean {
  const words = wordsOfKey(key);
  if (text === undefined || !EVENT.test(words) || !/^[\w.:/ -]+$/.test(text)) return false;
  return !/^(?:type|action)$/.test(words) || /\w[.:/]\w|^[a-z]+_[a-z]+ed$/.test(text);
}

/** The word for what the event around an object is about: `customer` of `customer.updated`. */
function entityAround(object: JsonPlace): string {
  let at = object.named?.around;
  for (let depth = 0; at !== undefined && depth < 3; depth++) {
    const event = eventOf(at);
    if (event !== undefined) return entityOf(event);
    at = at.named?.around;
  }
  return object.around === undefined ? entityOf(object.text ?? '') : '';
}

/** Whether a value of an object is the data of the event. */
function hasPayload({ fields }: JsonPlace): boolean {
  return fields.some(
    ({ key, shape }) =>
      shape === 'object' && TRANSPARENT.test(wordsOfKey(key)) && !VALUES.test(wordsOfKey(key)),
  );
}

export function entityOf(event: string): string {
  const words = wordsOfKey(event).split(' ');
  if (words.length > 1) words.pop();
  while (words.length > 1 && ABOUT_THE_VERB.test(words.at(-1) ?? '')) words.pop();
  return words.at(-1) ?? '';
}
