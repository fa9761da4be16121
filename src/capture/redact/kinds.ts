import { FORMAT_KINDS } from './format-kinds.ts';
import { keyWords, type PersonalKind } from './personal-kind.ts';
import type { Pseudonyms } from './pseudonyms.ts';

/** Words for people. A key such as `id`, `name` or `number` that follows one of them is personal. */
const PERSON =
  'user|customer|client|contact|person|people|member|account|profile|visitor|subscriber|player|patient|employee|student|guest|passenger|driver|lead|buyer|seller|author|owner|actor|sender|recipient|recipients|assignee|creator|requester|attendee|participant|agent|payer|payee|consumer|holder|cardholder|applicant|donor|parent|child|spouse|partner|beneficiary|insured|tenant|viewer|reviewer|commenter|friend|manager|billing|shipping|traits|user info|user data|from|to|cc|bcc|by';

/** The name in front of an e-mail: `Jane Doe <jane@shop.example>`. */
export const DISPLAY_NAME = {
  kind: 'name',
  format: /(?<=^|[\s",;:])[\p{L}'.-]{2,40}(?:,? [\p{L}'.-]{1,40}){0,4}(?="? ?<[^\s<>@]+@[^\s<>]+>)/gu,
  accept: (match: string) => match.trim(),
} satisfies PersonalKind;

/** Personal data that is recognized by the names of keys. */
const KEY_KINDS: readonly PersonalKind[] = [
  DISPLAY_NAME,
  {
    kind: 'birth',
    keys: keyWords(
      'birth ?(?:day|date)|date ?of ?birth|dob|birth ?(?:year|month)|year ?of ?birth|born(?: ?(?:on|at))?',
    ),
    replace: (value, pseudonyms) => dateFor(value, pseudonyms, 1940),
  },
  {
    kind: 'bank',
    keys: keyWords(
      '(?:card ?)?exp(?:iry|iration|ires)? ?(?:month|year|date)|card ?(?:exp|expiry|expiration)',
    ),
    replace: (value, pseudonyms) => dateFor(value, pseudonyms, 2030),
  },
  {
    kind: 'national id',
    format: /(?<![\w-])\d{3}-\d{2}-\d{4}(?![\w-])/g,
    keys: keyWords(
      'ssn|sin|social ?(?:security|insurance)(?: ?(?:number|no))?|national ?(?:id|identity|insurance)(?: ?(?:number|no|card))?|identity ?(?:number|no|card|document)|id ?card(?: ?(?:number|no))?|personal ?(?:id|number|code)|passport(?: ?(?:number|no|id))?|driv(?:er|ers|ing) ?licen[cs]e(?: ?(?:number|no|id))?|tax ?(?:payer)? ?(?:id|number|no)|vat ?(?:id|number|no)|tin|itin|ein|nino|nhs ?(?:number|no)|medicare(?: ?(?:number|no))?|cpf|cnpj|curp|rfc|dni|nie|nif|bsn|pesel|aadhaar|aadhar|personnummer|fodselsnummer|codice ?fiscale|steuer ?id|insurance ?(?:number|no|id)|health ?(?:id|card)(?: ?(?:number|no))?|policy ?(?:number|no)|voter ?id|visa ?(?:number|no)|residence ?permit(?: ?(?:number|no))?',
    ),
    spreads: true,
  },
  {
    kind: 'bank',
    keys: keyWords(
      'iban|bban|bic|swift(?: ?code)?|(?:bank|iban)? ?account ?(?:number|no|nr)|routing ?(?:number|no)|sort ?code|cvv ?2?|cvc ?2?|csc|card ?holder|last ?(?:4|four)|card ?(?:last ?(?:4|four)|bin)|(?:paypal|venmo|cash ?app|wallet|bitcoin|btc|eth|crypto) ?(?:id|address|account|handle)',
    ),
    spreads: true,
  },
  {
    kind: 'plate',
    keys: keyWords(
      'licen[cs]e ?plate|number ?plate|plate ?(?:number|no)|vin|vehicle ?(?:id|identification ?number|registration)|registration ?(?:plate|number)',
    ),
    spreads: true,
  },
  {
    kind: 'photo',
    keys: keyWords(
      'avatar(?: ?url)?|photo(?: ?url)?|picture(?: ?url)?|selfie|headshot|gravatar|profile ?(?:image|img|pic)(?: ?url)?|signature ?image|voice ?(?:print|recording)|finger ?print|face ?(?:id|print)|biometrics?',
    ),
    replace: linkFor,
  },
  {
    kind: 'handle',
    keys: keyWords(
      '(?:twitter|facebook|linked ?in|instagram|skype|telegram|tik ?tok|snapchat|git ?hub|git ?lab|discord|mastodon|bluesky|wechat|youtube)(?: ?(?:handle|user ?name|id|url|profile|account))|twitter|linked ?in|skype|(?:social ?)?handle|profile ?url|(?:personal ?|home ?)?(?:web ?site|homepage)',
    ),
    spreads: true,
    replace: linkFor,
  },
  {
    kind: 'name',
    keys: keyWords(
      `(?:first|last|middle|full|given|family|sur|user|display|nick|maiden|birth|legal|real|preferred|father|mother|pet|login|additional) ?names?|(?:card ?)?holder ?name|(?:${PERSON}) (?:screen ?)?names?|(?:names?|${PERSON}) (?:first|last|middle|full|given|family|display|formatted|legal)|fname|lname|mname|surname|(?:${PERSON}) login|login|salutation|signed ?by|signature ?name|attention|c ?o`,
    ),
    spreads: true,
  },
  {
    kind: 'id',
    keys: keyWords(
      `(?:${PERSON}|anonymous|previous|group|distinct|device|advertising|ad|vendor|installation|install|session|cookie|crm|lead|external|internal|salesforce|hubspot|stripe ?customer|braze|amplitude|mixpanel|segment|intercom|zendesk|ga|fb|facebook|google|apple|tracking|household|company|organi[sz]ation|team|workspace|loyalty|membership|medical ?record|matriculation) ?(?:u|gu)?ids?|(?:${PERSON}|membership|loyalty|staff|badge|medical ?record) ?(?:number|no|nr|reference|ref|key)|uid|guid|mrn|idf[av]|gaid|aaid|adid|oaid|imei|imsi|iccid|meid|udid|android ?id|serial(?: ?(?:number|no))?|fbp|fbc|gclid|fbclid|msclkid|client ?ids?`,
    ),
    spreads: true,
  },
  {
    kind: 'id',
    keys: keyWords(
      'user|customer|contact|member|visitor|subscriber|patient|employee|author|owner|sender|recipient|assignee|requester|attendee|passenger|guest|(?:created|updated|modified|invited|assigned|approved|owned) ?(?:by|to)|user ?ref',
      '',
    ),
    isEntity: true,
    spreads: true,
  },
  {
    kind: 'address',
    keys: keyWords(
      '(?:street|mailing|postal|home|work|billing|shipping|delivery|residential|full|formatted)? ?address(?:es)?(?: ?(?:line)? ?\\d)?|(?:address|street|billing|shipping)(?: ?(?:line)? ?\\d)|line ?[123]|street(?: ?(?:name|number|no))?|house ?(?:number|no|name)|apartment|apt|suite|(?:\\S+ )?ip ?city|city|town|suburb|village|neighbou?rhood|district|county|municipality|zip(?: ?code)?|post ?(?:al)? ?code|postal|plz|cep|pin ?code|po ?box|(?:address|location|shipping|billing|geo) (?:state|province|region|region ?name)|(?:birth|place ?of) ?(?:place|birth|residence)|home ?town',
      '(?:s|es)?',
    ),
    spreads: true,
  },
  {
    kind: 'attribute',
    keys: keyWords(
      'gender|sex|pronoun|age|ethnicity|ethnic ?(?:group|origin)|race|religion|nationality|citizenship|marital ?status|relationship ?status|sexual ?orientation|political ?(?:party|views?|affiliation)|union ?membership|blood ?(?:type|group)|diagnosis|diagnoses|disability|allerg(?:y|ies)|medication|medical ?condition|health ?(?:condition|status)|pregnan(?:t|cy)|bmi|salary|income|wage|net ?worth|credit ?(?:score|limit)|education|occupation|\\S{3} title|profession|employer|(?:traits|contact|customer|user|billing|shipping|lead) (?:company|organi[sz]ation|title)|company ?name|criminal ?record|convictions?',
    ),
  },
];

/** Table of all personal data that is recognized. Of two rows that match the same text, the first counts. */
export const PERSONAL_KINDS: readonly PersonalKind[] = [...FORMAT_KINDS, ...KEY_KINDS];

/** Words of keys whose texts are written by people, so that they can hold names that no rule finds. */
export const FREE_TEXT = keyWords(
  'comment|note|message|bio|about|description|feedback|review|subject|text|content|body|question|reason|remark|transcript|summary|title|memo|instructions|details|query|search|term|input|prompt|completion|caption|quote|story|letter|resume|cv',
);

/** Matches keys of people. A `name` beside one of them is of a person. */
export const BESIDE_A_NAME =
  /^(?:e ?mail|phone|mobile|first ?name|last ?name|surname|gender|birth ?day|date ?of ?birth|dob|avatar|user ?name|age|ssn)/;

/** Writes a day or month. */
function upToTwelve(number: number, like: string): string {
  return String(1 + (number % 12)).padStart(like.length === 1 ? 1 : 2, '0');
}

/** Returns a date of the same format, such as `1985-03-27`, `27.3.1985`, `19850327` or `11/29`, or a year or month alone. */
function dateFor(value: string, pseudonyms: Pseudonyms, firstYear: number): string {
  const [own = 0, day = 0, month = 0] = pseudonyms.bytes('birth', value.slice(0, 10));
  const year = String(firstYear + (own % 64));
  if (/^\d{8}$/.test(value)) return year + upToTwelve(month, 'mm') + upToTwelve(day, 'dd');
  const isDate = /^\d{1,2}$|^\d{4}$|\d[-/. ]\d|[a-z]{3,} \d|\d\.? [a-z]{3,}/i.test(value);
  if (!isDate) return pseudonyms.alike(value);
  const [date = '', rest = ''] = value.split(/(?=T\d)/, 2);
  let numbers = 0;
  const made = date.replaceAll(/\d+|[a-z]{3,}/gi, (part) => {
    if (/\D/.test(part)) return 'May';
    if (part.length > 2) return year;
    return upToTwelve(numbers++ === 0 ? day : month, part).slice(-2);
  });
  return made + rest;
}

/** Returns a link in place of a link, and a text of the same shape in place of a text. */
export function linkFor(value: string, pseudonyms: Pseudonyms): string {
  if (!/^(?:https?:)?\/\//i.test(value)) return pseudonyms.alike(value);
  return `https://redacted.example/${pseudonyms.token('link', value)}`;
}
