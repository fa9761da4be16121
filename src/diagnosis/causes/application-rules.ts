import { rulesOfKind } from './cause-rule.ts';

/** Mistakes in the receiver itself behind the words of its response, which do not name the mistake. */
export const APPLICATION_RULES = rulesOfKind('receiver', 'likely', {
  'compare-lengths': {
    status: [500],
    words:
      /Input buffers must have the same (?:byte )?length|TIMING_SAFE_EQUAL_LENGTH|"buf[12]" argument must be|comparing strings with non-ASCII/i,
    says: 'it compares signatures of different lengths or types, for which timingSafeEqual and compare_digest throw',
    fix: 'make both Buffers or bytes (Buffer.from(header ?? "")), compare the lengths first and respond with 401; then timingSafeEqual',
  },
  'hmac-of-object': {
    status: [500],
    words:
      /"data" argument must be of type string or an instance of Buffer|data must be (?:a )?string or buffer/i,
    says: 'it hashes the parsed body, or nothing, instead of the bytes of the body',
    fix: "keep the bytes: express.raw({ type: 'application/json' }) on this route, before express.json(); request.body is then a Buffer",
  },
  'hash-of-text': {
    status: [500],
    words:
      /(?:Strings|Unicode-objects) must be encoded before hashing|expected bytes or bytearray, but got 'str'/,
    says: 'it passes text to the hash, which accepts only bytes',
    fix: 'pass bytes: hmac.new(secret.encode(), request.body, hashlib.sha1) (Flask: request.get_data())',
  },
  'parsed-twice': {
    status: [400, 500],
    words:
      /Unexpected token '?o'?(?:, "\[object |\s+in JSON at position 1\b)|\[object Object\]"? is not valid JSON/,
    says: 'it parses the body twice: the framework has already parsed it',
    fix: "use the object as it is; and hash the bytes, not the object: express.raw({ type: 'application/json' }) on this route",
  },
  'secret-not-set': {
    status: [500],
    words:
      /"key" argument must be of type string[\s\S]{0,200}undefined|expected bytes or bytearray, but got 'NoneType'|Secret key (?:is )?(?:missing|not set)/i,
    says: 'the receiver has no secret: its setting is empty',
    fix: 'set the variable that the receiver reads its secret from, and start it again',
  },
  'body-not-parsed': {
    kind: 'status',
    status: [500],
    words:
      /Cannot read propert(?:y|ies) of (?:undefined|null)|Cannot destructure property|undefined method .{0,60} for nil|no implicit conversion of nil|'NoneType' object|\bKeyError\b|MultiValueDictKeyError|Undefined (?:index|array key|property)|nil pointer dereference|NullPointerException|NullReferenceException|null given/i,
    says: 'the receiver uses a field, header or body that is missing',
    fix: "treat each field as optional (properties, traits and userId may be missing), check the names of headers and of the secret's variable, and that a JSON parser runs on this route",
  },
  'body-read-twice': {
    status: [400, 500],
    words:
      /stream is not readable|body (?:stream )?already (?:read|consumed)|Body is unusable|Body has already been (?:used|read)|cannot access body after reading/i,
    fix: 'read the body once, as bytes, on this route: verify those bytes, then parse them',
  },
  'flask-request': {
    kind: 'status',
    status: [400],
    words: /The browser \(or proxy\) sent a request that this server could not understand/,
    says: 'Flask rejects the request: the view reads a form field that is not there (request.form), or JSON that it cannot parse',
    fix: 'read the bytes with request.get_data() and the message with request.get_json(): the body is not a form',
  },
  'unknown-field': {
    kind: 'status',
    status: [400, 422, 500],
    words:
      /Unrecognized field|json: unknown field|property \w{1,60} should not exist|UnrecognizedPropertyException|extra_forbidden|Extra inputs are not permitted|additional propert|unrecognized[_ ]keys?|cannot unmarshal \w+ into Go|Cannot deserialize value|JSON value could not be converted to/i,
    fix: 'let it ignore unknown fields and accept any JSON as properties and traits, since messages gain fields over time (Jackson FAIL_ON_UNKNOWN_PROPERTIES false and JsonNode, Go without DisallowUnknownFields and with json.RawMessage, Nest without forbidNonWhitelisted, Pydantic extra="ignore")',
  },
  'body-limit': {
    status: [400, 413, 500],
    words:
      /entity too large|PayloadTooLarge|BODY_TOO_LARGE|Body exceeded|RequestDataTooBig|DATA_UPLOAD_MAX_MEMORY_SIZE|body (?:is )?too large|Maximum request (?:body |length )|length limit exceeded|body size exceed/i,
    says: 'the framework accepts only smaller bodies',
    fix: "raise the limit on bodies to 64 KB (express.json({ limit: '64kb' }), DATA_UPLOAD_MAX_MEMORY_SIZE): a message may have 32 KB",
  },
  'json-parser': {
    kind: 'status',
    status: [400, 500],
    words:
      /Unexpected token|in JSON at position|JSONDecodeError|Expecting value: line 1|JSON parse error|ParserError/i,
    fix: 'parse the bytes of the body as UTF-8 JSON, once, and respond with 400 to what is not JSON',
  },
  'database-duplicate': {
    kind: 'status',
    status: [400, 409, 422, 500],
    words:
      /(?:unique constraint \\*"|UNIQUE constraint failed: |for key \\*['"]|index: )(?:_id_\b|\w+\.id\b|\w+_pkey\b|[\w.]*\bPRIMARY\b|[\w.]*(?:message|event|msg|webhook|delivery|idempotency)_?(?:id|key|uuid)\w*)/i,
    says: 'its database already has this message, and the receiver fails on the duplicate',
    fix: 'respond with 2xx to a known messageId (INSERT … ON CONFLICT DO NOTHING): a message may arrive more than once',
  },
  'database-emoji': {
    words:
      /Incorrect string value: |ER_TRUNCATED_WRONG_VALUE_FOR_FIELD|character with byte sequence 0x[\da-f ]+ in encoding "UTF8" has no equivalent/i,
    says: 'its database cannot store emoji: the column is utf8 with three bytes a character, or has another encoding',
    fix: 'convert the table to utf8mb4 (ALTER TABLE … CONVERT TO CHARACTER SET utf8mb4), and connect with charset utf8mb4',
  },
  'service-refused': {
    status: [500, 502, 503],
    words:
      /\bECONNREFUSED \S|getaddrinfo (?:ENOTFOUND|EAI_AGAIN) |could not connect to server|Can't connect to (?:local )?MySQL|connection to server at|SQLSTATE\[HY000\] \[2002\]/i,
    says: 'the receiver cannot reach a service that it needs',
    fix: 'start that service, and check its address in the settings of the receiver (containers: in the same network)',
  },
});
