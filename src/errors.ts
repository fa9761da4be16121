/*
 * HooksError                code, hint (how to correct it: the second line a person reads)
 * ├── ValidationError       ERR_HOOKS_VALIDATION   a message is not one of the seven types' shape: path, got
 * ├── ConfigError           ERR_HOOKS_CONFIG       a setting, wherever it was given: key, origin
 * ├── InputError            ERR_HOOKS_INPUT        a file or stdin cannot be read: file, line, column
 * ├── SignatureError        ERR_HOOKS_SIGNATURE    a secret or signature cannot be used: reason
 * ├── TransportError        ERR_HOOKS_TRANSPORT    a request cannot be made at all: kind, url (redacted)
 * ├── QueueError            ERR_HOOKS_QUEUE        the queue cannot keep or give a delivery: file
 * └── ClosedError           ERR_HOOKS_CLOSED       used after close()
 *
 * Responses and failures of a receiver are never thrown: they are an AttemptResult (engine/round/attempt-result.ts).
 * Only cli/main.ts turns an error into text and an exit code.
 */

export type ErrorCode =
  | 'ERR_HOOKS_VALIDATION'
  | 'ERR_HOOKS_CONFIG'
  | 'ERR_HOOKS_INPUT'
  | 'ERR_HOOKS_SIGNATURE'
  | 'ERR_HOOKS_TRANSPORT'
  | 'ERR_HOOKS_QUEUE'
  | 'ERR_HOOKS_CLOSED';

interface ErrorOptions {
  /** How to correct the mistake: a sentence with an imperative verb, without its full stop. */
  readonly hint?: string | undefined;
  readonly cause?: unknown;
}

/** The root of every error this package throws. `code` is stable; the sentence may improve. */
export abstract class HooksError extends Error {
  abstract readonly code: ErrorCode;
  readonly hint: string | undefined;

  constructor(message: string, { hint, cause }: ErrorOptions = {}) {
    super(message, cause === undefined ? undefined : { cause });
    this.name = new.target.name;
    this.hint = hint;
  }
}

/**
 * A message has the wrong shape. `path` is the position, such as `properties.items[3].price`, or empty for the message
 * itself. `got` is the shortened value.
 */
export class ValidationError extends HooksError {
  readonly code = 'ERR_HOOKS_VALIDATION';
  readonly path: string;
  readonly got: string | undefined;

  constructor(message: string, { path, got, ...rest }: ErrorOptions & { path: string; got?: string }) {
    super(message, rest);
    this.path = path;
    this.got = got;
  }
}

interface ConfigErrorOptions extends ErrorOptions {
  /** Name of a flag, which becomes `key` and `origin` of the error. */
  readonly flag?: string;
  readonly key?: string | undefined;
  readonly origin?: string | undefined;
  readonly others?: readonly ConfigError[];
}

/**
 * A setting is invalid. `key` is the setting (`delivery.timeout`), `origin` is where it was set (a flag, a variable, a
 * config file).
 */
export class ConfigError extends HooksError {
  readonly code = 'ERR_HOOKS_CONFIG';
  readonly key: string | undefined;
  readonly origin: string | undefined;
  /** Errors for further problems in the same config file. */
  readonly others: readonly ConfigError[];

  constructor(
    message: string,
    { flag, key = flag, origin = flag, others = [], ...rest }: ConfigErrorOptions = {},
  ) {
    super(message, rest);
    this.key = key;
    this.origin = origin;
    this.others = others;
  }
}

/** A file or standard input cannot be read. `line` and `column` count from 1. */
export class InputError extends HooksError {
  readonly code = 'ERR_HOOKS_INPUT';
  readonly file: string | undefined;
  readonly line: number | undefined;
  readonly column: number | undefined;

  constructor(
    message: string,
    { file, line, column, ...rest }: ErrorOptions & { file?: string; line?: number; column?: number } = {},
  ) {
    super(message, rest);
    this.file = file;
    this.line = line;
    this.column = column;
  }
}

export class SignatureError extends HooksError {
  readonly code = 'ERR_HOOKS_SIGNATURE';
  readonly reason: string;

  constructor(message: string, { reason, ...rest }: ErrorOptions & { reason: string }) {
    super(message, rest);
    this.reason = reason;
  }
}

/** A request cannot be made at all. `url` is redacted: it never holds userinfo. */
export class TransportError extends HooksError {
  readonly code = 'ERR_HOOKS_TRANSPORT';
  readonly kind: string;
  readonly url: string | undefined;

  constructor(message: string, { kind, url, ...rest }: ErrorOptions & { kind: string; url?: string }) {
    super(message, rest);
    this.kind = kind;
    this.url = url;
  }
}

/** The queue cannot keep or return a delivery. `file` is the queue's file, if it has one. */
export class QueueError extends HooksError {
  readonly code = 'ERR_HOOKS_QUEUE';
  readonly file: string | undefined;
  /** Whether the store works but is overloaded now. */
  readonly isBusy: boolean;
  /** Whether the store is a server that is unreachable or full now and may be usable later. */
  readonly isAway: boolean;

  constructor(
    message: string,
    {
      file,
      isBusy = false,
      isAway = false,
      ...rest
    }: ErrorOptions & { file?: string; isBusy?: boolean; isAway?: boolean } = {},
  ) {
    super(message, rest);
    this.file = file;
    this.isBusy = isBusy;
    this.isAway = isAway;
  }
}

export class ClosedError extends HooksError {
  readonly code = 'ERR_HOOKS_CLOSED';
}

/**
 * Calls a callback so that its errors do not affect the caller. An error is thrown again in a microtask, as an uncaught
 * exception: the program must notice the error, but the caller's work must go on if the process survives.
 */
export function callDetached<Value>(callback: (value: Value) => void, value: Value): void {
  try {
    callback(value);
  } catch (error) {
    queueMicrotask(() => {
      throw error;
    });
  }
}

/** The message of a thrown value, which may not be an Error. */
export function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}

/** Whether import() or require() failed because a package is not installed. */
export function isPackageMissing(error: unknown): boolean {
  const { code } = error as NodeJS.ErrnoException; // import() and require() throw errors of Node
  return code === 'ERR_MODULE_NOT_FOUND' || code === 'MODULE_NOT_FOUND';
}
