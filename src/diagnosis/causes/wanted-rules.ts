import { rulesOfKind, type CauseRule } from './cause-rule.ts';

const REJECTED = [400, 401, 403, 422];
/** Start of a pattern. Excludes bodies that other rules explain better: signatures, forgery protection, parsers. */
const NOT_ELSEWHERE = String.raw`^(?![\s\S]*(?:signature|hmac|timestamp|csrf|xsrf|unexpected token|\bJSON\b|You either supplied the wrong credentials))[\s\S]*`;

function wanted(pattern: string): RegExp {
  return new RegExp(`${NOT_ELSEWHERE}(?:${pattern})`, 'i');
}

/**
 * Matches a credential next to words that say what is wrong with it. The name of the credential is not enough, because a
 * response can mention an API key or a token without a complaint about it.
 */
function complaintAbout(credential: string): string {
  const wrong = String.raw`missing|invalid|malformed|expired|revoked|unknown|wrong|incorrect|bad|required|needed|inactive|disabled|mismatch|not (?:valid|found|provided|given|set|present|recogni[sz]ed|authori[sz]ed|allowed|active|match)|(?:does|did) not match`;
  return String.raw`(?:${wrong}|no|without|provide|supply|need|your|pass)\b[^.\n"]{0,30}${credential}\b|${credential}\b[^.\n"]{0,40}\b(?:${wrong})`;
}

/** Rejections because of a requirement other than the signature, which the response names: an API key, a token, a header. */
export const WANTED_RULES = rulesOfKind('receiver', [
  {
    code: 'wants-api-key',
    status: REJECTED,
    body: wanted(complaintAbout(String.raw`\bx?[-_ ]?api[-_ ]?keys?`)),
    says: 'it wants an API key, whatever the signature{words}',
    fix: "give it in the header that the receiver reads: --header 'X-API-Key: …'; or exempt {path}",
  },
  {
    code: 'wants-token',
    status: REJECTED,
    body: wanted(
      String.raw`${complaintAbout(String.raw`\b(?:tokens?|jwt)`)}|authorization header|not (?:authenticated|logged in)|\bunauthenticated\b|(?:missing|no|invalid|bad) credentials|(?:authentication|credentials?|log-?in)[^.\n"]{0,30}(?:required|missing|not provided)`,
    ),
    says: 'it wants a token or a login, whatever the signature{words}',
    fix: "give it: --header 'Authorization: Bearer …' (or where the receiver reads it); or exempt {path}",
  },
  {
    code: 'wants-address',
    status: [401, 403],
    body: wanted(
      String.raw`\bIP\b[^.\n"]{0,20}[\d.:a-f]*[^\n"]{0,40}(?:\bnot\b|denied|blocked|forbidden)|not (?:allow|white)-?listed`,
    ),
    says: 'it accepts only certain addresses{words}',
    fix: 'allow the address of the sender there, or remove the rule for {path}: the signature proves the sender',
  },
  {
    code: 'wants-header',
    status: REJECTED,
    body: wanted(
      String.raw`\b(?:missing|required|without|no)\b[^.\n"]{0,40}\bheader\b|\bheader\b[^.\n"]{0,60}(?:missing|required|not (?:found|provided|present|set))`,
    ),
    says: 'it wants a header that was not sent{words}',
    fix: "give it: --header 'Name: value'; or do not require it in the receiver",
  },
]);

/** Fallback for a rejection that no other rule recognizes: quotes the words of the response. */
export const OWN_WORDS: CauseRule = {
  code: 'own-words',
  kind: 'status',
  status: [],
  says: 'it gives its reason in its own words{words}',
  fix: 'do what these words ask for; they stand in the code of the receiver, at the line that rejects the message',
};

/** Fallback for a failure that no other rule recognizes: quotes the exception in the response. */
export const EXCEPTION_THERE: CauseRule = {
  code: 'exception',
  kind: 'receiver',
  status: [],
  says: 'its program failed{exception}',
  fix: 'repair this in the receiver, whose log names file and line; then send the message again',
};
