import type { WebhookOptions } from '../engine/options.ts';
import { MAX_WEBHOOKS } from '../engine/options.ts';
import { kindOf } from '../kind-of.ts';
import { printable, redactUrl } from '../redact.ts';
import { formatDuration, parseDuration } from '../duration.ts';
import {
  configError,
  unexpectedValue,
  type ConfigOrigin,
  shownSetting,
  originOfPart,
} from './config-origin.ts';

/** What a setting may be: how its value is read, wherever it was given, and how a JSON Schema describes it. */
export interface SettingKind<T> {
  /** Throws ConfigError naming the place. A flag's or a variable's value comes as text. */
  readonly parse: (value: unknown, place: ConfigOrigin) => T;
  /** A fragment of a draft-07 JSON Schema. */
  readonly schema: Readonly<Record<string, unknown>>;
  /** A default, as a person would write it. A method, so that a table of fields of different types has one type. */
  show?(value: T): string;
}

/** The way out where the sentence says what is allowed. */
const FOR_DEFAULT = 'leave it out to get its default';
const IN_FULL = 'write it in full: https://host/path';

/** Where a number or a choice may also be `${NAME}`. */
const REFERENCE_SCHEMA = { type: 'string', pattern: String.raw`\$\{[A-Za-z_][A-Za-z0-9_]*\}` };

/** Milliseconds inside, `5s` outside. */
export function duration(minMs: number, maxMs: number): SettingKind<number> {
  return {
    parse: (value, place) => {
      if (typeof value !== 'string' && typeof value !== 'number') {
        throw unexpectedValue(
          place,
          'to be a duration',
          shownSetting(value),
          'write a number with a unit: 5s',
        );
      }
      const parsed = parseDuration(value);
      if (typeof parsed !== 'number')
        throw unexpectedValue(place, parsed.expected, shownSetting(value), parsed.hint);
      if (parsed < minMs || parsed > maxMs) {
        throw unexpectedValue(
          place,
          `to be from ${formatDuration(minMs)} to ${formatDuration(maxMs)}`,
          shownSetting(value),
          FOR_DEFAULT,
        );
      }
      return parsed;
    },
    schema: {
      anyOf: [
        {
          type: 'string',
          pattern: String.raw`^\s*(0|\d+(\.\d+)?\s*[A-Za-z]+(\s*\d+(\.\d+)?\s*[A-Za-z]+)*)\s*$`,
        },
        REFERENCE_SCHEMA,
        ...(minMs === 0 ? [{ const: 0 }] : []),
      ],
    },
    show: formatDuration,
  };
}

export function integer(min: number, max: number): SettingKind<number> {
  return {
    parse: (value, place) => {
      const number = typeof value === 'string' && /^-?\d+$/.test(value.trim()) ? Number(value) : value;
      if (typeof number !== 'number' || !Number.isInteger(number)) {
        throw unexpectedValue(place, 'to be a whole number', shownSetting(value), `from ${min} to ${max}`);
      }
      if (number < min || number > max)
        throw unexpectedValue(place, `to be from ${min} to ${max}`, shownSetting(value), FOR_DEFAULT);
      return number;
    },
    schema: { anyOf: [{ type: 'integer', minimum: min, maximum: max }, REFERENCE_SCHEMA] },
  };
}

export function choice<const T extends string>(...choices: readonly T[]): SettingKind<T> {
  return {
    parse: (value, place) => {
      const found = choices.find((each) => each === value);
      if (found === undefined)
        throw unexpectedValue(place, `to be ${choices.join(' or ')}`, shownSetting(value), FOR_DEFAULT);
      return found;
    },
    schema: { anyOf: [{ enum: choices }, REFERENCE_SCHEMA] },
  };
}

export const onOrOff: SettingKind<boolean> = {
  parse: (value, place) => {
    if (value === true || value === 'true') return true;
    if (value === false || value === 'false') return false;
    throw unexpectedValue(place, 'to be true or false', shownSetting(value), FOR_DEFAULT);
  },
  schema: { anyOf: [{ type: 'boolean' }, REFERENCE_SCHEMA] },
};

export const text: SettingKind<string> = {
  parse: (value, place) => {
    if (typeof value === 'string' && value !== '') return value;
    throw unexpectedValue(place, 'to be a string', shownSetting(value), numberHint(value) ?? FOR_DEFAULT);
  },
  schema: { type: 'string', minLength: 1 },
};

/** One secret. Its value is never shown, nor its length. */
export const secret: SettingKind<string> = {
  parse: (value, place) => {
    if (typeof value === 'string' && value !== '') return value;
    if (value === '') throw emptySecret(place);
    throw unexpectedValue(place, 'to be a string', kindOf(value), numberHint(value));
  },
  schema: { type: 'string', minLength: 1 },
};

/** It goes as the user of Basic authentication, which ends at a colon (RFC 7617). Its value is never shown. */
export const writeKey: SettingKind<string> = {
  parse: (value, place) => {
    const hint = 'give the write key of the source, or leave it out';
    if (value === '') throw configError(place, `\`${place.name}\` is an empty write key`, hint);
    const key = secret.parse(value, place);
    if (!key.includes(':')) return key;
    throw configError(
      place,
      `\`${place.name}\` holds a colon, where the user name of Basic authentication ends`,
      'give the source a write key without one',
    );
  },
  schema: secret.schema,
};

/** One secret or a list of them: the first signs, all verify. */
export const secrets: SettingKind<readonly string[]> = {
  parse: (value, place) => {
    if (!Array.isArray(value)) return [secret.parse(value, place)];
    if (value.length === 0) {
      throw unexpectedValue(place, 'to hold a secret', 'an empty list', 'leave the key out to send unsigned');
    }
    return value.map((each, i) => secret.parse(each, originOfPart(place, `[${i}]`)));
  },
  schema: {
    anyOf: [secret.schema, { type: 'array', items: secret.schema, minItems: 1 }],
  },
};

/** An http or https URL. It is returned as it was given: userinfo and all. */
export const httpUrl: SettingKind<string> = {
  parse: (value, place) => {
    if (typeof value !== 'string') throw unexpectedValue(place, 'to be a URL', kindOf(value), IN_FULL);
    const got = value === '' ? 'an empty string' : printable(redactUrl(value), 200);
    if (!URL.canParse(value)) {
      throw unexpectedValue(place, 'to be a URL', got, IN_FULL);
    }
    const { protocol, hash } = new URL(value);
    if (protocol !== 'http:' && protocol !== 'https:') {
      throw unexpectedValue(place, 'to be a URL with http or https', got, IN_FULL);
    }
    if (hash !== '' || value.includes('#')) {
      throw unexpectedValue(place, 'to be a URL without a fragment', got, 'leave out what begins with #');
    }
    return value;
  },
  schema: { type: 'string', pattern: String.raw`^([Hh][Tt][Tt][Pp][Ss]?://[^#]+|.*\$\{.+)$` },
};

const HEADERS_SCHEMA = {
  type: 'object',
  additionalProperties: { type: 'string', pattern: String.raw`^[^\r\n]*$` },
};

/** At most five, each a bare URL or `{url, headers}`. */
export const webhooks: SettingKind<readonly WebhookOptions[]> = {
  parse: (value, place) => {
    if (!Array.isArray(value)) {
      throw unexpectedValue(place, 'to be a list', kindOf(value), 'write [https://host/path]');
    }
    if (value.length > MAX_WEBHOOKS) {
      throw unexpectedValue(
        place,
        `to hold at most ${MAX_WEBHOOKS} webhooks`,
        String(value.length),
        'spread them over several destinations, or send in several runs',
      );
    }
    return value.map((each, i) => parseWebhook(each, originOfPart(place, `[${i}]`)));
  },
  schema: {
    type: 'array',
    maxItems: MAX_WEBHOOKS,
    items: {
      anyOf: [
        httpUrl.schema,
        {
          type: 'object',
          required: ['url'],
          additionalProperties: false,
          properties: { url: httpUrl.schema, headers: HEADERS_SCHEMA },
        },
      ],
    },
  },
};

function parseWebhook(value: unknown, place: ConfigOrigin): WebhookOptions {
  if (typeof value === 'string') return { url: httpUrl.parse(value, place), headers: {} };
  if (!isRecord(value)) {
    const hint = 'write https://host/path, or { url: https://host/path }';
    throw unexpectedValue(place, 'to be a URL or { url, headers }', kindOf(value), hint);
  }
  const { url, headers, ...others } = value;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw configError(
      place,
      `Unknown setting \`${originOfPart(place, `.${printable(unknown, 80)}`).name}\``,
      'a webhook has url and headers',
    );
  }
  return {
    url: httpUrl.parse(url, originOfPart(place, '.url')),
    headers: headers === undefined ? {} : parseHeaders(headers, originOfPart(place, '.headers')),
  };
}

/** Only that they are strings of one line; which names and characters HTTP allows is checked where requests are built. */
function parseHeaders(value: unknown, place: ConfigOrigin): Record<string, string> {
  if (!isRecord(value)) {
    const hint = 'for example { X-Env: staging }';
    throw unexpectedValue(place, 'to be an object of names and values', kindOf(value), hint);
  }
  const entries = Object.entries(value).map(([name, each]): [string, string] => {
    const header = originOfPart(place, `.${printable(name, 80)}`);
    if (typeof each !== 'string')
      throw unexpectedValue(header, 'to be a string', kindOf(each), numberHint(each));
    if (/[\r\n]/.test(name + each))
      throw configError(header, `\`${header.name}\` holds a line break`, 'write the value on one line');
    return [name, each];
  });
  return Object.fromEntries(entries);
}

function emptySecret(place: ConfigOrigin): Error {
  return configError(
    place,
    `\`${place.name}\` is an empty secret`,
    place.file === undefined
      ? 'give a secret, or leave it out to send unsigned'
      : 'give a secret, or leave the key out to send unsigned',
  );
}

function numberHint(value: unknown): string | undefined {
  return typeof value === 'number' || typeof value === 'boolean' ? 'put it in quotes' : undefined;
}

export function isRecord(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
