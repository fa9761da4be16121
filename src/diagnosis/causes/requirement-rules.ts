import { rulesOfKind } from './cause-rule.ts';

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

/** Requirements of the receiver that the message does not meet, as the response words them. */
export const REQUIREMENT_RULES = rulesOfKind('receiver', 'likely', {
  'wants-token': {
    status: REJECTED,
    words: wanted(
      String.raw`${complaintAbout(String.raw`\b(?:x?[-_ ]?api[-_ ]?keys?|tokens?|jwt)`)}|authorization header|not (?:authenticated|logged in)|\bunauthenticated\b|(?:missing|no|invalid|bad) credentials|(?:authentication|credentials?|log-?in)[^.\n"]{0,30}(?:required|missing|not provided)|\b(?:missing|required|without|no)\b[^.\n"]{0,40}\bheader\b|\bheader\b[^.\n"]{0,60}(?:missing|required|not (?:found|provided|present|set))`,
    ),
    says: 'it wants a token, a key or a header besides the signature',
    fix: "give it in the header that the receiver reads: --header 'Authorization: Bearer …' or --header 'X-API-Key: …'; or exempt {path}",
  },
  'timestamp-refused': {
    kind: 'status',
    status: REJECTED,
    words:
      /timestamp[^.\n"]{0,30}\b(?:too (?:old|new|late|early|far)|stale|expired|in the (?:future|past)|outside|tolerance)|(?:stale|expired|old|future) timestamp|signature (?:has |is )?expired|(?:message|event) (?:is |was )?too old/i,
    fix: 'compare the clocks of both machines, and let the receiver compare like with like (seconds, or milliseconds); hooks replay --timestamps now gives old messages the present time',
  },
  'scheme-without-header': {
    status: REJECTED,
    isBySchemeWithout: true,
    words:
      /\b(?:missing|no|without|absent)\b[^.\n]{0,20}\bX-Signature\b|\bX-Signature\b[^.\n]{0,40}(?:missing|required|not (?:found|provided|present|set))/i,
    says: 'it expects X-Signature, which was not sent: the signing scheme sends other headers',
    fix: 'leave the scheme out (--scheme, or signatures in the config), so that X-Signature is sent; or let the receiver verify by that scheme',
  },
  'signature-missing-there': {
    status: REJECTED,
    isSigned: true,
    words:
      /^(?![\s\S]*\b(?:invalid|wrong|mismatch|match(?:es|ed|ing)?\b|(?:no|not|any|without)(?: an?)? valid))[\s\S]*(?:\b(?:missing|no|without|absent)\b[^.\n]{0,20}signatures?(?!\w)|signatures?(?!\w)[^.\n]{0,60}(?:missing|required|not (?:found|provided|present))|(?:missing|no)[ _-]*(?:webhook[ _-]*)?timestamp|timestamp (?:header )?(?:is )?(?:missing|required)|\bMissing required headers\b|(?:missing|no) (?:required )?(?:webhook|svix|stripe|hub|x-hub|x-shopify|x-slack)[-_ ](?:id|hmac))/i,
    says: 'it does not see the signature, which was sent: it expects another scheme, reads another header, or a proxy removes the header',
    fix: "send by the scheme that it verifies by (--scheme; the default sends X-Signature), read the header that is sent (Node and Go: any case; PHP: HTTP_X_SIGNATURE; Rails: request.headers['X-Signature']), and let the proxy forward it",
  },
  'signature-invalid-there': {
    kind: 'status',
    status: REJECTED,
    isSigned: true,
    words:
      /(?:bad|invalid|wrong|mismatch)[^.\n]{0,20}(?:signature|hmac|digest)|(?:signature|hmac|digest)[^.\n]{0,30}(?:invalid|mismatch|does not match|not match|verification failed|wrong|\bmatch)|\b(?:no|not|any|without)\b[^.\n]{0,20}\b(?:valid|match\w*)[^.\n]{0,20}(?:signature|hmac|digest)/i,
    fix: 'run hooks test URL, which finds out how the receiver verifies; check that it has the same secret, reads the header that is sent, and hashes the bytes of the body as received',
  },
  validation: {
    kind: 'status',
    status: [400, 422],
    words:
      /^(?![\s\S]*(?:signature|hmac)(?!_))[\s\S]*(?:"loc"\s*:\s*\[|\b(?:field|property|parameter)\b[^.\n]{0,40}\bmissing|\bmissing\b[^.\n]{0,20}\b(?:field|property|parameter)|(?:is|are) (?:a )?required|field required|required (?:field|property|parameter)|may not be (?:blank|null)|can.t be blank|must (?:be|have|match)|should be|ValidationError|ZodError|invalid[_ ]type|does not match (?:the )?schema|param is missing)/i,
    says: 'its validation rejects the message: it expects other fields or types',
    fix: 'accept the fields of every message type (userId may be missing, others may be added), as hooks send TYPE --dry-run shows them',
  },
});
