import { ClosedError, HooksError, QueueError } from '../../errors.ts';

interface ErrorParts {
  readonly code?: unknown;
  readonly message?: unknown;
  readonly errors?: readonly unknown[];
  readonly previousErrors?: readonly unknown[];
}

/** Turns an error of a server, driver or network into a HooksError with a hint, and with no part of the URL but `place`. */
export function serverError(cause: unknown, place: string): HooksError {
  if (cause instanceof HooksError) return cause;
  const text = errorText(cause);
  const [what, hint] = REASONS.find(([pattern]) => pattern.test(text))?.[1] ?? [
    `failed: ${withoutUrls(text)}`,
    'look into the log of the server; -v shows where it failed',
  ];
  return new QueueError(`The queue at ${place} ${what}`, {
    hint,
    isBusy: POOL_BUSY.test(text),
    isAway: PASSING.includes(hint),
    cause: withoutSecrets(cause),
  });
}

/** Whether a transaction was rolled back because of a deadlock, so that it can be retried at once. */
export function isDeadlock(cause: unknown): boolean {
  return /40P01|deadlock detected/.test(errorText(cause));
}

/** Whether `serverError` found that the server is full. */
export function isFull(error: unknown): boolean {
  return error instanceof QueueError && error.hint === ROOM;
}

export function closedError(place: string): ClosedError {
  return new ClosedError(`The queue at ${place} is closed`);
}

/** Matches the driver's error for a call that waited too long for a free connection. The server itself can be reached. */
const POOL_BUSY = /timeout exceeded when trying to connect/;
const ROOM = 'make room; the deliveries in the queue are kept';
const REPLICA = 'start its replica; the deliveries in the queue are kept';
const PRIMARY = 'name the primary in `store`';
const BACK = 'check that the server runs and can be reached; delivery continues by itself when it does';

/** Hints for failures that can end by themselves, as when a replica becomes the primary. */
const PASSING: readonly string[] = [BACK, ROOM, REPLICA, PRIMARY];

const REASONS: readonly (readonly [RegExp, readonly [what: string, hint: string]])[] = [
  [
    /Unknown RESP type|Protocol error, got|received invalid response: [\da-f]+|unexpected message (?:type|from server)/i,
    [
      'is another kind of server: its port speaks another protocol',
      'check the scheme, host and port of `store`',
    ],
  ],
  [
    POOL_BUSY,
    ['is busy: all connections of this process are in use', 'send less at once, or run more processes'],
  ],
  [/ECONNREFUSED/, ['cannot be reached: the connection is refused', BACK]],
  [/ENOTFOUND|EAI_AGAIN/, ['cannot be reached: its host name is unknown', BACK]],
  [/timed? ?out|ETIMEDOUT|timeout exceeded/i, ['does not respond in time', BACK]],
  [
    /Stream isn't writeable|connection (?:is closed|close|error)\b|NOSCRIPT|ECONNRESET|EPIPE|terminated|max retries per request|socket/i,
    ['cannot be reached: the connection is lost', BACK],
  ],
  [
    /WRONGPASS|NOAUTH|password authentication|28P01|28000|invalid username-password/i,
    ['rejects the user or password', 'check the userinfo of `store`'],
  ],
  [
    /NOPERM/,
    [
      'does not allow its user to run a command, or to use a key',
      'give the user `+@all -@dangerous +info`, the keys `bull:*` and `hooks:*`, and the channels `hooks:*`',
    ],
  ],
  [/permission denied|42501/, ['does not allow it', 'give the role the right to read and write']],
  [
    /3D000|does not exist.*database|database .* does not exist/,
    ['has no such database', 'create it, or name another one in `store`'],
  ],
  [/DB index/, ['has no such database', 'name another one in `store`, or raise its `databases`']],
  [/\bOOM\b|53100|disk full|No space left/i, ['is full', ROOM]],
  [/MISCONF/, ['cannot write to its disk', 'see its log; the deliveries in the queue are kept']],
  [/READONLY|25006|read-only/i, ['is read-only: a replica, most likely', PRIMARY]],
  [/NOREPLICAS/, ['has too few replicas that follow it', REPLICA]],
  [/LOADING|57P03|starting up|57P01|57P02|shutting down/, ['is starting or stopping', BACK]],
  [
    /53300|too many (?:clients|connections)/i,
    ['has no connection left', 'raise max_connections, or run fewer processes'],
  ],
  [
    /certificate|self-signed|TLS|SSL/i,
    [
      'cannot be reached: TLS failed',
      'check the scheme of `store` (rediss:, sslmode) and NODE_EXTRA_CA_CERTS',
    ],
  ],
];

/**
 * The code and message of an error and of all errors inside it: Node nests one error per address of a host, the Redis driver
 * one per rejected command of a transaction. These errors can refer to each other.
 */
function errorText(cause: unknown, seen = new Set<unknown>()): string {
  if (seen.has(cause)) return '';
  seen.add(cause);
  const { code, message, errors = [], previousErrors = [] }: ErrorParts = cause ?? {};
  const inner = [...errors, ...previousErrors].map((each) => errorText(each, seen));
  return [code, message, ...inner].filter((part) => part !== undefined && part !== '').join(' ');
}

function withoutUrls(text: string): string {
  return text.replace(/\b[a-z]+:\/\/\S+/gi, '…');
}

/** Copies only text and stack, because a driver's error can contain the command with its arguments, or the password. */
function withoutSecrets(cause: unknown): Error {
  const error = new Error(withoutUrls(errorText(cause)));
  if (cause instanceof Error && cause.stack !== undefined) error.stack = withoutUrls(cause.stack);
  return error;
}
