import { MAX_WEBHOOKS, type WebhookOptions } from '../../engine/options.ts';
import { isObject, kindOf } from '../../validate-options.ts';
import { printable } from '../../redact.ts';
import { configError, originOfPart, unexpectedValue, type ConfigOrigin } from '../config-origin.ts';
import { httpUrl, quotesHint, type SettingKind } from './kinds.ts';

const HEADERS_SCHEMA = {
  type: 'object',
  additionalProperties: { type: 'string', pattern: String.raw`^[^\r\n]*$` },
};

/** A list of at most five webhooks. Each is a URL or `{url, headers}`. */
export const webhooks: SettingKind<readonly WebhookOptions[]> = {
  parse: (value, origin) => {
    if (!Array.isArray(value)) {
      throw unexpectedValue(origin, 'to be a list', kindOf(value), 'write [https://host/path]');
    }
    if (value.length > MAX_WEBHOOKS) {
      const hint = 'spread them over several destinations, or send in several runs';
      throw unexpectedValue(origin, `to have at most ${MAX_WEBHOOKS} webhooks`, String(value.length), hint);
    }
    return value.map((each, i) => parseWebhook(each, originOfPart(origin, `[${i}]`)));
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

function parseWebhook(value: unknown, origin: ConfigOrigin): WebhookOptions {
  if (typeof value === 'string') return { url: httpUrl.parse(value, origin), headers: {} };
  if (!isObject(value)) {
    const hint = 'write https://host/path, or { url: https://host/path }';
    throw unexpectedValue(origin, 'to be a URL or { url, headers }', kindOf(value), hint);
  }
  const { url, headers, ...others } = value;
  const [unknown] = Object.keys(others);
  if (unknown !== undefined) {
    throw configError(
      origin,
      `Unknown setting \`${originOfPart(origin, `.${printable(unknown, 80)}`).name}\``,
      'a webhook has url and headers',
    );
  }
  return {
    url: httpUrl.parse(url, originOfPart(origin, '.url')),
    headers: headers === undefined ? {} : parseHeaders(headers, originOfPart(origin, '.headers')),
  };
}

/**
 * Validates only that headers are strings without line breaks. The code that builds requests validates names and characters.
 */
function parseHeaders(value: unknown, origin: ConfigOrigin): Record<string, string> {
  if (!isObject(value)) {
    const hint = 'for example { X-Env: staging }';
    throw unexpectedValue(origin, 'to be an object of names and values', kindOf(value), hint);
  }
  const entries = Object.entries(value).map(([name, each]): [string, string] => {
    const header = originOfPart(origin, `.${printable(name, 80)}`);
    if (typeof each !== 'string') {
      throw unexpectedValue(header, 'to be a string', kindOf(each), quotesHint(each));
    }
    if (/[\r\n]/.test(name + each)) {
      throw configError(header, `\`${header.name}\` holds a line break`, 'write the value on one line');
    }
    return [name, each];
  });
  return Object.fromEntries(entries);
}
