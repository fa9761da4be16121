import {
  FOR_DEFAULT,
  isObject,
  kindOf,
  valueProblem,
  type Choice,
  type WholeNumber,
} from '../../validate-options.ts';
import { emptyOrBlank, isBlankSecret } from '../../signature/secret.ts';
import { printable, redactUrl } from '../../redact.ts';
import { formatDuration, parseDuration } from '../../duration.ts';
import { userinfoHint } from '../../url.ts';
import {
  configError,
  unexpectedValue,
  shownSetting,
  originOfPart,
  type ConfigOrigin,
} from '../config-origin.ts';

/** Kind of a setting's value: how it is parsed, from any origin, and how a JSON Schema describes it. */
export interface SettingKind<T> {
  /**
   * Parses a value, which is text if it is from a flag or a variable. Throws ConfigError with the origin if the value is
   * invalid.
   */
  readonly parse: (value: unknown, origin: ConfigOrigin) => T;
  /** JSON Schema (draft-07) of a value of this kind, without the `$schema` of a whole document. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** All values that the setting can have, if there are few. Undefined if the values cannot be listed. */
  readonly choices?: readonly string[];
  /**
   * Formats a value as it is written in a config file. Declared as a method, because a method's parameter is bivariant, so
   * that a table can mix fields of different types.
   */
  show?(value: T): string;
}

const IN_FULL = 'write it in full: https://host/path';

/** Allows a reference `${NAME}` in place of a number or a choice. */
const REFERENCE_SCHEMA = { type: 'string', pattern: String.raw`\$\{[A-Za-z_][A-Za-z0-9_]*\}` };

/** A duration, written as `5s` and parsed to milliseconds. */
export function duration({ least, most }: WholeNumber): SettingKind<number> {
  return {
    parse: (value, origin) => {
      const unexpected = (expected: string, hint: string): Error =>
        unexpectedValue(origin, expected, shownSetting(value), hint);
      if (typeof value !== 'string' && typeof value !== 'number') {
        throw unexpected('to be a duration', 'write a number with a unit: 5s');
      }
      const parsed = parseDuration(value);
      if (typeof parsed !== 'number') throw unexpected(parsed.expected, parsed.hint);
      if (parsed >= least && parsed <= most) return parsed;
      throw unexpected(`to be from ${formatDuration(least)} to ${formatDuration(most)}`, FOR_DEFAULT);
    },
    schema: {
      anyOf: [
        {
          type: 'string',
          pattern: String.raw`^\s*(0|\d+(\.\d+)?\s*[A-Za-z]+(\s*\d+(\.\d+)?\s*[A-Za-z]+)*)\s*$`,
        },
        REFERENCE_SCHEMA,
        ...(least === 0 ? [{ const: 0 }] : []),
      ],
    },
    show: formatDuration,
  };
}

export function integer(range: WholeNumber): SettingKind<number> {
  return {
    parse: parserOf(range, numberIn),
    schema: { anyOf: [{ type: 'integer', minimum: range.least, maximum: range.most }, REFERENCE_SCHEMA] },
  };
}

function numberIn(given: unknown): number {
  const isText = typeof given === 'string' && /^-?\d+$/.test(given.trim());
  return isText ? Number(given) : (given as number); // parserOf rejects other values
}

export function choice<const T extends string>(kind: Choice<T>): SettingKind<T> {
  const { choices } = kind;
  const parse = parserOf(kind, (given) => given as T); // parserOf rejects other values
  return { parse, schema: { anyOf: [{ enum: choices }, REFERENCE_SCHEMA] }, choices };
}

/** Makes a parser that validates a value like an option of the library. `read` only converts text, without validating it. */
function parserOf<T>(kind: WholeNumber | Choice, read: (given: unknown) => T): SettingKind<T>['parse'] {
  return (given, origin) => {
    const value = read(given);
    const problem = valueProblem(kind, value);
    if (problem === undefined) return value;
    throw unexpectedValue(origin, problem.expected, shownSetting(given), problem.hint);
  };
}

export const onOrOff: SettingKind<boolean> = {
  parse: (value, origin) => {
    if (value === true || value === 'true' || value === '1') return true;
    if (value === false || value === 'false' || value === '0') return false;
    throw unexpectedValue(origin, 'to be true or false', shownSetting(value), FOR_DEFAULT);
  },
  schema: { anyOf: [{ type: 'boolean' }, REFERENCE_SCHEMA] },
};

export const text: SettingKind<string> = {
  parse: (value, origin) => {
    if (typeof value === 'string' && value !== '') return value;
    throw unexpectedValue(origin, 'to be a string', shownSetting(value), quotesHint(value) ?? FOR_DEFAULT);
  },
  schema: { type: 'string', minLength: 1 },
};

/** One secret. Errors never show its value or length. */
export const secret: SettingKind<string> = {
  parse: (value, origin) => {
    if (typeof value !== 'string') {
      throw unexpectedValue(origin, 'to be a string', kindOf(value), quotesHint(value));
    }
    if (!isBlankSecret(value)) return value;
    const it = origin.file === undefined ? 'it' : 'the key';
    const hint = `give a secret, or leave ${it} out to send unsigned`;
    throw configError(origin, `\`${origin.name}\` is ${emptyOrBlank(value)} secret`, hint);
  },
  schema: { type: 'string', pattern: String.raw`\S` },
};

/**
 * A write key, without colons, because it is sent as the user name of Basic authentication (RFC 7617). Errors never show it.
 */
export const writeKey: SettingKind<string> = {
  parse: (value, origin) => {
    const hint = 'give the write key of the source, or leave it out';
    if (typeof value === 'string' && isBlankSecret(value)) {
      throw configError(origin, `\`${origin.name}\` is ${emptyOrBlank(value)} write key`, hint);
    }
    const key = secret.parse(value, origin);
    if (!key.includes(':')) return key;
    throw configError(
      origin,
      `\`${origin.name}\` has a colon, at which the user name of Basic authentication ends`,
      'give the source a write key without a colon',
    );
  },
  schema: secret.schema,
};

/** One secret or a list of secrets. The first secret signs, and signatures made with any of them are valid. */
export const secrets: SettingKind<readonly string[]> = {
  parse: (value, origin) => {
    if (!Array.isArray(value)) return [secret.parse(value, origin)];
    if (value.length === 0) {
      const hint = 'leave the key out to send unsigned';
      throw unexpectedValue(origin, 'to have a secret', 'an empty list', hint);
    }
    return value.map((each, i) => secret.parse(each, originOfPart(origin, `[${i}]`)));
  },
  schema: {
    anyOf: [secret.schema, { type: 'array', items: secret.schema, minItems: 1 }],
  },
};

function unreadableUrlHint(value: string): string {
  const port = /^https?:\/\/[^/?#]*:(\d+)(?=[/?#]|$)/i.exec(value)?.[1];
  if (Number(port) > 65_535) return 'give a port from 1 to 65535';
  if (/^https?:\/\/[\da-f]*:[\da-f:]*:/i.test(value)) {
    return 'put an IPv6 address in brackets: http://[::1]:3000/';
  }
  const spaced = 'write a space as %20, or put quotes around the value';
  return userinfoHint(value) ?? (/\s/.test(value.trim()) ? spaced : IN_FULL);
}

/** An http or https URL, returned as given, with its userinfo. */
export const httpUrl: SettingKind<string> = {
  parse: (value, origin) => {
    if (typeof value !== 'string') throw unexpectedValue(origin, 'to be a URL', kindOf(value), IN_FULL);
    const got = value === '' ? 'an empty string' : printable(redactUrl(value), 200);
    if (!URL.canParse(value)) {
      throw unexpectedValue(origin, 'to be a URL', got, unreadableUrlHint(value));
    }
    const { protocol, hash } = new URL(value);
    if (protocol !== 'http:' && protocol !== 'https:') {
      throw unexpectedValue(origin, 'to be a URL with http or https', got, IN_FULL);
    }
    if (hash !== '' || value.includes('#')) {
      const isInUser = value.includes('@', value.indexOf('#'));
      const hint = (isInUser ? userinfoHint(value) : undefined) ?? 'leave out what begins with #';
      throw unexpectedValue(origin, 'to be a URL without a fragment', got, hint);
    }
    return value;
  },
  schema: { type: 'string', pattern: String.raw`^([Hh][Tt][Tt][Pp][Ss]?://[^#]+|.*\$\{.+)$` },
};

/** The hint to quote a value that must be text but is a number, a boolean or `{{ NAME }}`; undefined for other values. */
export function quotesHint(value: unknown): string | undefined {
  // Recognizes `{{ NAME }}`, which the YAML parser reads as an object with this key.
  if (isObject(value) && Object.hasOwn(value, '[object Object]')) {
    return 'put it in quotes: in YAML { begins an object; ${NAME} takes a variable';
  }
  return typeof value === 'number' || typeof value === 'boolean' ? 'put it in quotes' : undefined;
}
