import { rulesOfKind } from './cause-rule.ts';

/** Matches what precedes the name of a unique constraint in the errors of PostgreSQL, SQLite, MySQL and MongoDB. */
const UNIQUE = String.raw`(?:unique constraint \\*"|UNIQUE constraint failed: |for key \\*['"]|index: )`;

/** Failures of resources that the receiver needs: its database, other services, disk and memory. */
export const SERVICE_RULES = rulesOfKind('receiver', [
  {
    code: 'database-nul',
    body: /invalid byte sequence for encoding \\*"UTF8\\*": 0x00|unsupported Unicode escape sequence|\\u0000 cannot be converted to text/,
    says: 'its database (PostgreSQL) cannot store the character U+0000',
    fix: "remove it before storing (JavaScript: replaceAll('\\0', '')), or store the bytes of the body as bytea",
  },
  {
    code: 'database-emoji',
    body: /Incorrect string value: |ER_TRUNCATED_WRONG_VALUE_FOR_FIELD|character with byte sequence 0x[\da-f ]+ in encoding "UTF8" has no equivalent/i,
    says: 'its database cannot store emoji: the column is utf8 with three bytes a character, or has another encoding',
    fix: 'convert the table to utf8mb4 (ALTER TABLE … CONVERT TO CHARACTER SET utf8mb4), and connect with charset utf8mb4',
  },
  {
    code: 'database-too-long',
    body: /value too long for type character varying|Data too long for column|String or binary data would be truncated/i,
    says: 'a column of its database is too short for the message',
    fix: 'store the body as text or jsonb; ids and values of a message may be long',
  },
  {
    code: 'database-schema',
    body: /relation "[^"]{1,80}" does not exist|no such table|Table '[^']{1,80}' doesn.t exist|no such column|Unknown column/i,
    says: 'a table or column is missing in its database',
    fix: 'run the migrations of the receiver',
  },
  {
    code: 'database-down',
    status: [500, 502, 503],
    body: /ECONNREFUSED[^\n]{0,40}:(?:5432|3306|6379|27017|1433)|could not connect to server|Can't connect to (?:local )?MySQL|connection to server at|SQLSTATE\[HY000\] \[2002\]/i,
    says: 'the receiver cannot reach its database',
    fix: 'start the database, and check the address that the receiver has for it',
  },
  {
    code: 'database-locked',
    status: [500, 503],
    body: /database is locked|SQLITE_BUSY|deadlock detected|Lock wait timeout/i,
    says: 'its database was locked by another request',
    fix: 'write in short transactions and set a busy timeout, or put the message into a queue first',
  },
  {
    code: 'database-connections',
    status: [500, 503],
    body: /too many (?:clients|connections)|connection slots are reserved/i,
    says: 'the receiver, or its database, has no connection left{reason}',
    fix: 'let all its requests share one small pool of connections to the database, or raise the limit there (max_connections)',
  },
  {
    code: 'database-password',
    status: [500, 503],
    body: /password authentication failed|Access denied for user|NOAUTH Authentication required|WRONGPASS/,
    says: 'its database does not accept the user and password that the receiver has{reason}',
    fix: 'correct them in the settings of the receiver (Redis: redis://:PASSWORD@HOST:6379), and start it again',
  },
  {
    code: 'database-duplicate',
    kind: 'status',
    status: [400, 409, 422, 500],
    body: new RegExp(
      String.raw`${UNIQUE}(?<named>_id_\b|\w+\.id\b|\w+_pkey\b|[\w.]*\bPRIMARY\b|[\w.]*(?:message|event|msg|webhook|delivery|idempotency)_?(?:id|key|uuid)\w*)`,
      'i',
    ),
    says: 'its database already has this message ({named}), and the receiver fails on the duplicate',
    fix: 'respond with 2xx to a known messageId (INSERT … ON CONFLICT DO NOTHING): a message may arrive more than once',
  },
  {
    code: 'database-unique',
    kind: 'status',
    status: [400, 409, 422, 500],
    body: /duplicate key|UNIQUE constraint failed|Duplicate entry|E11000|UniqueViolation|IntegrityError/i,
    says: 'a constraint of its database rejects a value of the message{reason}',
    fix: 'let the receiver handle that: update the row (INSERT … ON CONFLICT DO UPDATE), or, where it is the messageId, respond with 2xx to a message that it already has',
  },
  {
    code: 'service-refused',
    status: [500, 502, 503],
    body: /\b(?:connect |dial tcp )?ECONNREFUSED (?<named>[\w.:[\]-]+)/,
    says: 'the receiver needs a service at {named}, which refuses connections',
    fix: 'start that service, and check its address in the settings of the receiver',
  },
  {
    code: 'service-unknown',
    status: [500, 502, 503],
    body: /getaddrinfo (?:ENOTFOUND|EAI_AGAIN) (?<named>[\w.-]+)/,
    says: 'the receiver needs a service at {named}, and finds no host of that name',
    fix: 'check the name in the settings of the receiver, and start that service (containers: in the same network)',
  },
  {
    code: 'service-certificate',
    status: [500, 502, 503],
    body: /self[- ]signed certificate/i,
    says: 'the receiver does not trust the certificate of a service that it calls{reason}',
    fix: 'let the receiver trust its issuer (Node: NODE_EXTRA_CA_CERTS=ca.pem)',
  },
  {
    code: 'disk-full',
    status: [500, 503],
    body: /\bENOSPC\b|No space left on device|database or disk is full/i,
    says: 'the disk of the receiver is full{reason}',
    fix: 'make room on the machine of the receiver (df -h, df -i)',
  },
  {
    code: 'file-permission',
    status: [500],
    body: /\bEACCES\b|PermissionError: \[Errno 13\]/,
    says: 'the receiver may not open a file or port{reason}',
    fix: 'give its user the right to it (chown, chmod, a volume that may be written to)',
  },
  {
    code: 'memory-full',
    status: [500, 502, 503],
    body: /heap out of memory|java\.lang\.OutOfMemoryError|\bMemoryError\b|Allowed memory size of|\bENOMEM\b/,
    says: 'the program of the receiver has no memory left{reason}',
    fix: 'give it more (NODE_OPTIONS=--max-old-space-size=1024, memory_limit, the limit of its container), and look for a memory leak',
  },
]);
