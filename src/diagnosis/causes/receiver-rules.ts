import { rulesOfKind } from './cause-rule.ts';

const REJECTED = [400, 401, 403, 422];

/** Rules for responses from the receiver's own code. A rule without `says` quotes the response. */
export const RECEIVER_RULES = rulesOfKind('status', 'likely', {
  'timestamp-refused': {
    status: REJECTED,
    words:
      /timestamp[^.\n"]{0,30}\b(?:too (?:old|new|late|early|far)|stale|expired|in the (?:future|past)|outside|tolerance)|(?:stale|expired|old|future) timestamp|signature (?:has |is )?expired|(?:message|event) (?:is |was )?too old/i,
    fix: 'compare the clocks of both machines, and let the receiver compare like with like (seconds, or milliseconds); hooks replay --timestamps now gives old messages the present time',
  },
  'signature-missing-there': {
    kind: 'receiver',
    status: REJECTED,
    isSigned: true,
    words:
      /^(?![\s\S]*\b(?:invalid|wrong|mismatch|match(?:es|ed|ing)?\b|(?:no|not|any|without)(?: an?)? valid))[\s\S]*(?:\b(?:missing|no|without|absent)\b[^.\n]{0,20}signatures?(?!\w)|signatures?(?!\w)[^.\n]{0,60}(?:missing|required|not (?:found|provided|present))|(?:missing|no)[ _-]*(?:webhook[ _-]*)?timestamp|timestamp header (?:is )?(?:missing|required)|\bMissing required headers\b|(?:missing|no) (?:required )?(?:webhook|svix|stripe|hub|x-hub|x-shopify|x-slack)[-_ ](?:id|hmac))/i,
    says: 'it does not see the signature, which was sent: it expects another scheme, reads another header, or a proxy removes the header',
    fix: "let it read the header that is sent (Node: request.headers['x-signature'], in lower case; PHP: HTTP_X_SIGNATURE; Rails: request.headers['X-Signature']), or send by the scheme that it verifies by (--scheme; the default sends X-Signature); and let a proxy forward the header (nginx drops names with an underscore: underscores_in_headers on)",
  },
  'signature-invalid-there': {
    status: REJECTED,
    isSigned: true,
    words:
      /(?:bad|invalid|wrong|mismatch)[^.\n]{0,20}(?:signature|hmac|digest|(?<![a-z])sig(?![a-z]))|(?:signature|hmac|digest|(?<![a-z])sig(?![a-z]))[^.\n]{0,30}(?:\bbad\b|invalid|mismatch|does not match|not match|verification failed|wrong|\bmatch)|\b(?:no|not|any|without)\b[^.\n]{0,20}\b(?:valid|match\w*)[^.\n]{0,20}(?:signature|hmac|digest)/i,
    fix: 'check that it has the same secret; then run hooks test URL, which finds out how the receiver verifies, or let its response show the digest that it computes while you test, which hooks send explains',
  },
  validation: {
    status: [400, 422],
    words:
      /^(?![\s\S]*(?:signature|hmac)(?!_))[\s\S]*(?:"loc"\s*:\s*\[|\b(?:field|property|parameter)\b[^.\n]{0,40}\bmissing|\bmissing\b[^.\n]{0,20}\b(?:field|property|parameter)|(?:is|are) (?:a )?required|field required|required (?:field|property|parameter)|may not be (?:blank|null)|can.t be blank|must (?:be|have|match)|should be|ValidationError|ZodError|invalid[_ ]type|does not match (?:the )?schema|param is missing|Unrecognized(?:Property| field)|unknown field|should not exist|extra_forbidden|Extra inputs are not permitted|additional propert|unrecognized[_ ]keys?|cannot unmarshal \w+ into Go|Cannot deserialize value|JSON value could not be converted to)/i,
    fix: 'accept the fields of every message type, as hooks send TYPE --dry-run shows them: userId may be missing, others may be added, properties and traits may be any JSON',
  },
  'compare-lengths': {
    kind: 'receiver',
    status: [500],
    words:
      /Input buffers must have the same (?:byte )?length|TIMING_SAFE_EQUAL_LENGTH|"buf[12]" argument must be|comparing strings with non-ASCII/i,
    says: 'it compares signatures of different lengths or types, for which timingSafeEqual and compare_digest throw',
    fix: 'make both Buffers or bytes (Buffer.from(header ?? "")), compare the lengths first and respond with 401; then timingSafeEqual',
  },
  'body-not-bytes': {
    kind: 'receiver',
    status: [400, 500],
    words:
      /"data" argument must be of type string or an instance of Buffer|data must be (?:a )?string or buffer|Unexpected token '?o'?(?:, "\[object |\s+in JSON at position 1\b)|\[object Object\]"? is not valid JSON|stream is not readable|body (?:stream )?already (?:read|consumed)|Body is unusable|Body has already been (?:used|read)|cannot access body after reading/i,
    fix: "read the body once, as bytes, on this route: express.raw({ type: 'application/json' }) before express.json(), request.get_data(), the plugin fastify-raw-body; hash those bytes, then parse them",
  },
  'key-missing': {
    kind: 'receiver',
    status: [500],
    words:
      /"key" argument must be of type string[\s\S]{0,200}undefined|key: expected bytes or bytearray, but got 'NoneType'|\(\$key\) must be of type string, null given/i,
    fix: 'set the secret where the receiver runs: its variable is not set there, or has another name; let the receiver fail to start without it',
  },
  'missing-there': {
    status: [500],
    words:
      /Cannot read propert(?:y|ies) of (?:undefined|null)|Cannot destructure property|undefined method .{0,60} for nil|no implicit conversion of nil|'NoneType'|\bKeyError\b|MultiValueDictKeyError|Undefined (?:index|array key|property)|nil pointer dereference|NullPointerException|NullReferenceException|null given/i,
    fix: "treat each field as optional (properties, traits and userId may be missing), check the names of headers and of the secret's variable, and that a JSON parser runs on this route",
  },
  'body-limit': {
    kind: 'receiver',
    status: [400, 413, 500],
    words:
      /entity too large|PayloadTooLarge|BODY_TOO_LARGE|Body exceeded|RequestDataTooBig|DATA_UPLOAD_MAX_MEMORY_SIZE|body (?:is )?too large|Maximum request (?:body |length )|length limit exceeded|body size exceed/i,
    fix: "raise the limit on bodies to 64 KB (express.json({ limit: '64kb' }), DATA_UPLOAD_MAX_MEMORY_SIZE): a message may have 32 KB",
  },
});
