import type { JsonPlace } from './json-tokens.ts';
import { keyWords, wordsOfKey, type SubjectKind } from './personal-kind.ts';

/** Words for people. */
const PEOPLE =
  'user|customer|contact|member|person|people|invitee|visitor|subscriber|player|patient|employee|student|teacher|guest|passenger|driver|buyer|seller|shopper|author|owner|sender|recipient|assignee|creator|reporter|requester|submitter|commenter|reviewer|approver|organizer|attendee|participant|signer|payer|consumer|cardholder|applicant|donor|spouse|candidate|purchaser|recruiter|supervisor|worker|resident|individual|learner|instructor|speaker|inviter|contractor|courier|beneficiary|insured|viewer|friend|committer|pusher|child(?:ren)?|alias(?:es)?';
/** Words that are also used for things, and mean people only with other values beside or below them. */
const ROLES =
  'profile|billing|shipping|traits|lead|agent|actor|manager|holder|device|caller|callee|claimant|witness(?:es)?|nurse|doctor|physician|practitioner|landlord|dependents?|winner|opponent|watcher|adjuster|referrer|from|to|cc|bcc';
const DETAILS = '(?: (?:info|data|details?|account|attributes|full|entity|record|object|instance))*';
const BY = '(?:created|updated|modified|invited|assigned|approved|owned|signed) ?(?:by|to)|user ?ref';
const PERSON = keyWords(`(?:${PEOPLE}|${ROLES}|${BY})${DETAILS}`);
const PAYMENT = keyWords(
  `(?:(?:credit|debit|payment) ?card|bank ?account|payment ?(?:method|source|instrument)|sepa ?debit|wallet)${DETAILS}`,
);
const ORGANIZATIONS =
  'organi[sz]ation|org|company|companies|merchant|store|shop|team|workspace|business|vendor|brand|supplier|guild|portal|tenant|bank|bot';
const ORGANIZATION = keyWords(`(?:${ORGANIZATIONS})${DETAILS}`);
const THINGS =
  'plan|product|order|event|subscription|campaign|app|application|library|item|invoice|project|repository|repo|issue|ticket|page|screen|os|browser|network|list|group|channel|license|tag|segment|form|message|price|payment|charge|transaction|discount|coupon|policy|quota|stats?|settings|tracking|meeting|conversation|file|label|field|question|definition|entry|submission|directory|calendar|appointment|pool|report|headers?|commit|sequence|folder|filter|trigger|server|carrier|printer|layer|offer|banner|tracker|center|publisher|manufacturer|dealer|partner|broker|voucher|container|connector|monitor|sensor|cluster|router|insurer|retailer';
const THING = keyWords(`(?:${THINGS}|link)${DETAILS}`);
/** Matches keys that refer to a thing or an organization, also inside of a person: `plan id`, `company name`. */
export const OF_A_THING = keyWords(
  `(?:${THINGS}|${ORGANIZATIONS}|provider)(?: (?:\\S?ids?|name|number|key|code|size|url|title|type|class|prefix))*|acc(?:oun)?t name|orgname`,
);
/** Matches a word for a person at the end of a key: `gift recipient`, `approved by`. */
export const REFERENCE = `${PEOPLE}|${BY}`;
/** Finds what follows the last word for a person in a key: `id` in `customer id` and `customerid`. */
export const OF_A_PERSON = new RegExp(
  `(?:^|.* )(?:${PEOPLE}|${ROLES}|${BY}|account ?holder|emergency contact)(?: s)?s?(?: |(?<=\\S{4}))(?=\\S)`,
  'u',
);

/** Matches a name of at least two words. */
export const FULL_NAME = /^\p{Lu}[\p{Ll}'-]+(?: \p{Lu}[\p{L}'.-]*)+$/u;
const NAME = /^name$/;
/** Matches words that end like words for people: `rider`, `conductor`, `mentee`. */
const ROLE = /(?:^| )(?:\S{2,}(?:er|or|ist|ant|ee)|host|coach|guardian)s?$/;

/** Keys of the data of an event, whose name tells what they describe. */
const TRANSPARENT =
  /^(?:data|object|payload|resource|entity|item|record|current|previous|attributes|previous attributes|properties|fields|merge fields|merges|body|details?|old|new|before|after|sobject|snapshot|values|content)$/;
const VALUES = /^(?:properties|attributes|fields|merge fields|merges)$|(?:^| )profiles?$/;
/** Matches the words of keys for earlier values, which stand beside the current ones. */
const EARLIER = /^(?:previous|prior|old|before|updated from|changes)(?: (?:attributes|values|data|record))?$/;
/** Matches the words of keys for a form that a person filled in. */
const FORM = /^(?:form|fields?|submission|entry)$/;
const DISCRIMINATOR =
  /^(?:(?:object|resource|entity|record|model)(?: ?(?:type|kind|name))?|type|kind|schemas)$/;
const EVENT =
  /^(?:event(?: (?:name|type|code|kind))?|topic|trigger event|webhook event|subscription type|table|type|action)$/;
const MESSAGE = /^(?:identify|track|page|screen|group|alias)$/;
const ABOUT_THE_VERB = /^(?:property|profile|field|status|info|data|details?|account)$/;

/** Keys that only people have. */
const PERSONAL_FIELDS = [
  /^(?:e ?mail(?: ?address)?)$/,
  /^(?:(?:mobile|cell|home|work)? ?phone(?: ?number)?|mobile|msisdn|tel)$/,
  /^(?:(?:first|given) ?name|f ?name|given|first|nick ?name|full ?name)$/,
  /^(?:(?:last|family) ?name|sur ?name|l ?name|family|last)$/,
  /^(?:birth ?(?:day|date)|date ?of ?birth|dob|avatar(?: ?url)?|gender|age|ssn)$/,
];
/** Matches the words of keys for parts of a message. With a name and an e-mail address, it is a form that a person sent. */
const OF_A_MESSAGE = /^(?:body|subject|text|html|message)$/;
/** Matches the words of keys of sales and events, which contain data of a person among other data. */
const OF_A_SALE =
  /(?:^| )(?:amount|price|subtotal|total|gross|fee|quantity|line items|items|products|(?:order|transaction|txn|message|event) ?(?:id|number))$/;
const PAYMENT_FIELD =
  /^(?:last ?(?:4|four)|iban|bban|iin|bin|mask|cvc|account ?number|routing(?: ?number)?|sort ?code|exp(?:iry)? ?month)$/;

/** Returns what an object describes: by its own type, by its key, by the name of its event, then by its fields. */
export function subjectOf(object: JsonPlace): SubjectKind {
  object.subject ??= findSubject(object);
  return object.subject;
}

function findSubject(object: JsonPlace): SubjectKind {
  const around = object.named?.around;
  const words = object.named?.words ?? '';
  const isPresent = ({ words: other, shape }: JsonPlace): boolean =>
    shape === 'object' && TRANSPARENT.test(other) && !EARLIER.test(other);
  const present = EARLIER.test(words) ? around?.fields.find(isPresent) : undefined;
  const isOfGroup = words === 'traits' && textAt(around, /^type$/) === 'group';
  const byKey = isOfGroup ? 'organization' : subjectOfWords(words, false);
  const told = typeOf(object) ?? (present === undefined ? byKey : subjectOf(present));
  if (told === 'thing' && FORM.test(words) && personalFields(object) > 0) return 'person';
  if (told !== undefined) return told;
  if (isMessage(around) || isMessage(object)) return 'thing';
  return subjectByContent(object, words) ?? (around === undefined ? 'thing' : subjectOf(around));
}

function subjectByContent(object: JsonPlace, words: string): SubjectKind | undefined {
  const hasPeople = hasInside(object, PERSON);
  const isOfEvent =
    !hasPeople && (words === '' || TRANSPARENT.test(words)) && !hasInside(object, TRANSPARENT);
  if (isOfEvent && isOfAPerson(eventAround(object))) return 'person';
  if (eventOf(object) !== undefined) return 'thing';
  if (hasPeople) return undefined;
  const count = personalFields(object);
  const isOther = hasField(object, OF_A_SALE) || (hasField(object, OF_A_MESSAGE) && !hasField(object, NAME));
  if (count > 2 || (count > 0 && !isOther)) return 'person';
  if (ROLE.test(words) && FULL_NAME.test(textAt(object, NAME) ?? '')) return 'person';
  const payment = object.fields.find((field) => PAYMENT_FIELD.test(field.words) && field.text !== undefined);
  return payment && 'payment';
}

/** The subject that the object itself names: `object: "customer"`, `type: "User"`. An address noreply@… is not a person's. */
function typeOf(object: JsonPlace): SubjectKind | undefined {
  const email = textAt(object, /^e-?mail$/i) ?? '';
  if (/^(?:noreply|donotreply)@/i.test(email.replaceAll('-', ''))) return 'organization';
  const types = object.fields.filter(({ words }) => DISCRIMINATOR.test(words));
  for (const { key, text = '' } of types.flatMap((type) => [type, ...type.items])) {
    const words = wordsOfKey(text.replace(/^(?:urn|https?):.*[:/]/, ''));
    const found = subjectOfWords(words, true) ?? (key === 'object' && words !== '' ? 'thing' : undefined);
    if (found !== undefined) return found;
  }
  return undefined;
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

/** Whether an event is about a person: `customer.updated`. */
export function isOfAPerson(event: string): boolean {
  return subjectOfWords(entityOf(event), true) === 'person';
}

/** Whether a value is a message of Segment, which has its ids and names beside the values of the event. */
export function isMessage(place: JsonPlace | undefined): boolean {
  return place !== undefined && factOf(place, MESSAGE, () => MESSAGE.test(textAt(place, /^type$/) ?? ''));
}

/** Whether an object has a value whose key has these words. */
export function hasField(object: JsonPlace, words: RegExp): boolean {
  return factOf(object, words, () => object.fields.some((field) => words.test(field.words)));
}

const knownFacts = new WeakMap<JsonPlace, Map<RegExp, unknown>>();

/** Remembers what was found in an object, so that many values of one object take linear time. */
export function factOf<T>(object: JsonPlace, question: RegExp, find: () => T): T {
  const known = knownFacts.get(object) ?? new Map<RegExp, unknown>();
  knownFacts.set(object, known);
  if (!known.has(question)) known.set(question, find());
  return known.get(question) as T; // each question has results of one type
}

export function textAt(place: JsonPlace | undefined, key: RegExp): string | undefined {
  return place?.fields.find((field) => field.text !== undefined && key.test(field.key))?.text;
}

/** Whether an object contains an object or a list whose key has these words. Ignores those that only group its own values. */
function hasInside({ fields }: JsonPlace, keys: RegExp): boolean {
  const inside = fields.filter(({ shape }) => shape === 'object' || shape === 'list');
  return inside.some(({ words }) => keys.test(words) && !VALUES.test(words));
}

/** The number of personal fields of an object, also of those in `properties`. */
function personalFields({ fields }: JsonPlace): number {
  const all = fields.flatMap((field) => (VALUES.test(field.words) ? field.fields : [field]));
  const given = all.filter(({ shape, text = '' }) => shape !== undefined && !/^\d{1,4}$/.test(text));
  return PERSONAL_FIELDS.filter((pattern) => given.some(({ words }) => pattern.test(words))).length;
}

/** The name of the event that an object is. */
export function eventOf(object: JsonPlace): string | undefined {
  return factOf(object, EVENT, () => object.fields.find(isEventName)?.text);
}

function isEventName({ words, text }: JsonPlace): boolean {
  if (text === undefined || !EVENT.test(words) || !/^[\w.:/ -]+$/.test(text)) return false;
  return !/^(?:type|action)$/.test(words) || /\w[.:/]\w|^[a-z]+_[a-z]+ed$/.test(text);
}

/** The name of the event in the three objects around an object, or of that in a header for the outermost value. Else empty. */
export function eventAround(object: JsonPlace): string {
  let at = object.named?.around;
  for (let depth = 0; at !== undefined && depth < 3; depth++) {
    const event = eventOf(at);
    if (event !== undefined) return event;
    at = at.named?.around;
  }
  return object.around === undefined ? (object.text ?? '') : '';
}

/** The word for what an event is about: `customer` of `customer.updated` and of `updated.customer`. */
function entityOf(event: string): string {
  const words = wordsOfKey(event).split(' ');
  if (words.length > 1 && !/^\S+ed \S+$/.test(words.join(' '))) words.pop();
  while (words.length > 1 && ABOUT_THE_VERB.test(words.at(-1) ?? '')) words.pop();
  return words.at(-1) ?? '';
}
