import { FORMAT_KINDS } from './format-kinds.ts';
import { keyWords, wordsOfKey, type PersonalKind } from './personal-kind.ts';
import { memoized, type Pseudonyms } from './pseudonyms.ts';
import { OF_A_PERSON, OF_A_THING, REFERENCE } from './subjects.ts';

/** The name in front of an e-mail: `Jane Doe <jane@shop.example>`. */
export const DISPLAY_NAME = {
  kind: 'name',
  format: /(?<=^|[\s",;:])[\p{L}'.-]{2,40}(?:,? [\p{L}'.-]{1,40}){0,4}(?="? ?<[^\s<>@]+@[^\s<>]+>)/gu,
  accept: (match: string) => match.trim(),
} satisfies PersonalKind;

/** Words of keys, by the kind that they show. */
const WORDS = {
  attribute:
    'gender|sex|pronoun|age|ethnicity|ethnic ?(?:group|origin)|race|religion|nationality|citizenship|marital ?status|relationship ?status|sexual ?orientation|political ?(?:party|views?|affiliation)|union ?member(?:ship)?|blood ?(?:type|group)|diagnosis|diagnoses|disability|allerg(?:y|ies)|medication|medical ?condition|health ?(?:condition|status)|pregnan(?:t|cy)|bmi|salary|income|wage|net ?worth|credit ?(?:score|limit)|education|occupation|j.b ?title|profession|employer|criminal ?record|convictions?',
  birth:
    'birth ?(?:day|date)|date ?of ?birth|dob(?: ?year)?|birth ?(?:year|month)|year ?of ?birth|born(?: ?(?:on|at))?',
  nationalId:
    'ssn|sin|social ?(?:security|insurance)(?: ?(?:number|no))?|national ?(?:id|identity|insurance)(?: ?(?:number|no|card))?|(?:identity|identification) ?(?:number|no|card|document)|id ?(?:card|number)(?: ?(?:number|no))?|personal ?(?:id|number|code)|passport(?: ?(?:number|no|id))?|driv(?:er|ers|ing) ?licen[cs]e(?: ?(?:number|no|id))?|tax ?(?:payer)? ?(?:id|number|no)|vat(?: ?(?:id|number|no))?|tin|itin|ein|nino|nhs ?(?:number|no)|medicare(?: ?(?:number|no))?|cpf|cnpj|curp|rfc|dni|nie|nif|bsn|pesel|aadhaar|aadhar|personnummer|fodselsnummer|codice ?fiscale|steuer ?id|insurance ?(?:number|no|id)|health ?(?:id|card)(?: ?(?:number|no))?|policy ?(?:number|no)|voter ?id|visa ?(?:number|no)|residence ?permit(?: ?(?:number|no))?',
  bank: 'iban|bban|bic|swift(?: ?code)?|(?:bank|iban)? ?account ?(?:number|no|nr)(?: ?ending)?|routing ?(?:number|no)|sort ?code|cvv ?2?|cvc ?2?|csc|vpa|card ?(?:holder|summary|bin|iin|mask|visual)|last ?(?:4|four)|(?:paypal|venmo|cash ?app|wallet|bitcoin|btc|eth|crypto) ?(?:id|address|account|handle)',
  plate:
    'licen[cs]e ?plate|number ?plate|plate(?: ?(?:number|no))?|vin|vehicle ?(?:id|identification ?number|registration)|registration ?(?:plate|number)',
  photo:
    'avatar(?: ?url)?|selfie|headshot|gravatar|profile ?(?:image|img|pic|photo|picture)(?: ?url)?|signature ?image|voice ?(?:print|recording)|finger ?print|face ?(?:id|print)|biometrics?',
  photoInPerson: '(?:image|img|picture|pic|photo|icon|thumbnail)(?: ?(?:url|\\d+|original|small|large))?',
  handle:
    '(?:twitter|facebook|linked ?in|instagram|skype|telegram|tik ?tok|snapchat|git ?hub|git ?lab|discord|mastodon|bluesky|wechat|youtube)(?: ?(?:handle|user ?name|id|url|profile|account))|twitter|linked ?in|skype|snapchat|(?:social ?)?handle|social ?(?:profile|account|media)|profile ?url|vanity(?: ?(?:name|url))?|(?:personal ?|home ?)(?:web ?site|page)',
  name: '(?:first|last|middle|full|given|family|sur|user|display|maiden|birth|legal|real|preferred|father|mother|pet|login|additional)s? ?names?|name (?:first|last|middle)|(?:card ?)?holder ?name|fname|lname|mname|surname|login|initials|known ?as|salutation|signature ?name|attention|c ?o',
  nameInPerson:
    '(?:(?:screen|global|company|billing|shipping) ?)?name|nick ?(?:name)?|first|last|given|family|middle|full|formatted|display|slug',
  id: '(?:anonymous|previous|distinct|advertising|installation|session|cookie|crm|stripe ?customer|tracking|household|loyalty|membership|medical ?record|matriculation|client(?: ?reference)?|host) ?(?:u|gu)?ids?|(?:membership|loyalty|staff|badge|medical ?record) ?(?:number|no|nr|reference|ref|key)|(?<!\\S )uid|mrn|idf[av]|gaid|aaid|adid|oaid|imei|imsi|iccid|meid|udid|android ?id|serial(?: ?(?:number|no))?|fbp|fbc|gclid|fbclid|msclkid',
  address:
    '(?:street|mailing|postal|home|work|billing|shipping|delivery|residential|full|formatted)? ?address(?:es)?(?: ?(?:line)? ?\\d)?|(?:address|street)(?: ?(?:line)? ?\\d)|addr(?: ?line)? ?\\d|line ?[123]|street(?: ?(?:name|number|no))?|house ?(?:number|no|name)|apartment|apt|suite|(?:city|town)(?: ?name)?|suburb|village|neighbou?rhood|district|county|municipality|locality|zip(?: ?code)?|post ?(?:al)? ?code|postal|plz|cep|pin ?code|po ?box|(?:birth|place ?of) ?(?:place|birth|residence)|home ?town|administrative ?district ?level|(?:address|location|geo) ?(?:state|province|region)',
};

/** Any other value of a person. */
export const ATTRIBUTE = {
  kind: 'attribute',
  keys: keyWords(WORDS.attribute),
} satisfies PersonalKind;

/** Personal data that is recognized by the names of keys. */
const KEY_KINDS: readonly PersonalKind[] = [
  DISPLAY_NAME,
  { kind: 'birth', keys: keyWords(WORDS.birth), replace: dateFor },
  {
    kind: 'national id',
    format: /(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])/g,
    keys: keyWords(WORDS.nationalId),
    spreads: true,
  },
  {
    kind: 'bank',
    keys: keyWords(WORDS.bank),
    inPerson: keyWords('mask|bin|iin|masked ?number|summary|finger ?print'),
    spreads: true,
  },
  { kind: 'plate', keys: keyWords(WORDS.plate), fits: /\d/, spreads: true },
  { kind: 'photo', keys: keyWords(WORDS.photo), inPerson: keyWords(WORDS.photoInPerson), replace: linkFor },
  {
    kind: 'handle',
    keys: keyWords(WORDS.handle),
    inPerson: keyWords('web ?site|home ?page|blog|facebook|instagram|telegram|git ?hub|discord|youtube'),
    spreads: true,
    replace: linkFor,
  },
  {
    kind: 'name',
    keys: keyWords(WORDS.name),
    inPerson: keyWords(WORDS.nameInPerson),
    // A name with a slash is that of a repository.
    fits: /^[^/]+$/,
    spreads: true,
  },
  {
    kind: 'id',
    keys: keyWords(WORDS.id),
    inPerson: keyWords('(?:u|g|gu|v|uu)?ids?|number|no|nr|ref|reference|identifier'),
    spreads: true,
  },
  { kind: 'id', keys: keyWords(REFERENCE), isEntity: true, spreads: true },
  {
    // A word that is also used for places and times counts if a name follows.
    kind: 'name',
    keys: keyWords('from|to|cc|bcc|by|agent|holder|manager|lead|emergency ?contact'),
    fits: /^\p{Lu}[\p{L}'’-]+(?: \p{Lu}[\p{L}'’.-]*)+$/u,
    isEntity: true,
    spreads: true,
  },
  { kind: 'address', keys: keyWords(WORDS.address, '(?:s|es)?'), spreads: true },
  {
    // A text for a place is an address if it has a number and a comma.
    kind: 'address',
    keys: keyWords('location|venue|place'),
    fits: /^(?=.*\d)(?=.*\p{L}).*, /u,
    isEntity: true,
  },
  ATTRIBUTE,
];

/** Matches keys of a part of an address, beside which `state` is one too. */
export const OF_AN_ADDRESS = keyWords('city|zip(?: ?code)?|postal ?code|post ?code|street|locality');
export const REGION = keyWords('state|province|region|area');

/** Table of all personal data that is recognized. Of two rows that match the same text, the first counts. */
export const PERSONAL_KINDS: readonly PersonalKind[] = [...FORMAT_KINDS, ...KEY_KINDS];

/** Words of keys whose texts are written by people, so that they can hold names that no rule finds. */
export const FREE_TEXT = keyWords(
  'comment|note|message|bio|about|description|feedback|review|subject|text|content|body|question|reason|remark|transcript|summary|title|memo|instructions|details|query|search|term|input|prompt|completion|caption|quote|story|letter|resume|cv',
);

/** Finds the kind of personal data that a key shows by itself, whatever object it is in. */
export const kindOfKey = memoized((key: string): PersonalKind | undefined => {
  const words = wordsOfKey(key);
  const plain = words.replace(/ ?\d+$/, '');
  const row = PERSONAL_KINDS.find(({ keys }) => keys?.test(words) === true || keys?.test(plain) === true);
  return row ?? rowOfAPerson(plain);
});

/** The kind of a key that has a word for a person and a word for a value of a person: `customer id`, `user external id`. */
function rowOfAPerson(words: string): PersonalKind | undefined {
  const rest = words.replace(OF_A_PERSON, '');
  const last = rest.replace(/^(?:external|internal|unique|original|alternate) /, '');
  return rest === words || last.includes(' ') ? undefined : rowInPerson(last);
}

/** The kind that the words of a key show in an object that describes a person. */
export function rowInPerson(words: string): PersonalKind | undefined {
  return OF_A_THING.test(words) ? undefined : PERSONAL_KINDS.find(({ inPerson }) => inPerson?.test(words));
}

/** Writes a day or month. */
function upToTwelve(number: number, like: string): string {
  return String(1 + (number % 12)).padStart(like.length === 1 ? 1 : 2, '0');
}

/** Returns a date of the same format, such as `1985-03-27`, `27.3.1985` or `19850327`, or a year or month alone. */
function dateFor(value: string, pseudonyms: Pseudonyms): string {
  const [own = 0, day = 0, month = 0] = pseudonyms.bytes('birth', value.slice(0, 10));
  const drawn = String(1940 + (own % 64));
  const year = value.includes(drawn) ? '1939' : drawn;
  if (/^\d{8}$/.test(value)) return year + upToTwelve(month, 'mm') + upToTwelve(day, 'dd');
  const isDate = /^\d{1,2}$|^\d{4}$|\d[-/. ]\d|[a-z]{3,} \d|\d\.? [a-z]{3,}/i.test(value);
  if (!isDate) return pseudonyms.alike(value);
  const [date = '', rest = ''] = value.split(/(?=T\d)/, 2);
  let numbers = 0;
  const made = date.replaceAll(/\d+|[a-z]{3,}/gi, (part) => {
    if (/\D/.test(part)) return 'May';
    if (part.length > 2) return year;
    const drawnPart = upToTwelve(numbers++ === 0 ? day : month, part);
    return drawnPart === part ? upToTwelve(Number(part), part) : drawnPart;
  });
  return made + rest;
}

/** Returns a link in place of a link, and a text of the same shape in place of a text. */
export function linkFor(value: string, pseudonyms: Pseudonyms): string {
  if (!/^(?:https?:)?\/\//i.test(value)) return pseudonyms.alike(value);
  return `https://redacted.example/${pseudonyms.token('link', value)}`;
}
