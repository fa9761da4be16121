import { isObject, kindOf } from '../../validate-options.ts';
import { printable } from '../../redact.ts';
import { SCHEME_SCHEMA, schemeProblem } from '../../signature/schemes/validate-scheme.ts';
import { schemeNameProblem } from '../../signature/schemes/find-schemes.ts';
import type { SignatureScheme } from '../../signature/schemes/scheme.ts';
import {
  configError,
  originOfPart,
  shownSetting,
  unexpectedValue,
  type ConfigOrigin,
} from '../config-origin.ts';
import type { SettingKind } from './kinds.ts';

const NAMES_HINT = 'write names with commas between: segment,standard-webhooks';

/** Names of signature schemes, separated by commas or in a list. Does not validate that the schemes exist. */
export const schemeNames: SettingKind<readonly string[]> = {
  parse: (value, origin) => {
    const given: readonly unknown[] = Array.isArray(value) ? value : [value];
    const names = given.flatMap((each, index) => {
      const part = Array.isArray(value) ? originOfPart(origin, `[${index}]`) : origin;
      if (typeof each !== 'string') {
        throw unexpectedValue(part, 'to name signature schemes', shownSetting(each), NAMES_HINT);
      }
      return each.split(',').map((name) => name.trim());
    });
    if (names.length > 0 && names.every((name) => name !== '')) return names;
    throw unexpectedValue(origin, 'to name signature schemes', 'an empty name', NAMES_HINT);
  },
  schema: {
    anyOf: [
      { type: 'string', minLength: 1 },
      { type: 'array', items: { type: 'string', minLength: 1 }, minItems: 1 },
    ],
  },
};

/** Custom signature schemes: an object that maps the name of each scheme to the scheme. */
export const ownSchemes: SettingKind<readonly SignatureScheme[]> = {
  parse: (value, origin) => {
    if (!isObject(value)) {
      throw unexpectedValue(origin, 'to be an object of names and schemes', kindOf(value), SCHEME_HINT);
    }
    return Object.entries(value).map(([name, scheme]) =>
      parseScheme(name, scheme, originOfPart(origin, `.${printable(name, 80)}`)),
    );
  },
  schema: {
    type: 'object',
    propertyNames: { pattern: '^[A-Za-z0-9_-]{1,64}$' },
    additionalProperties: SCHEME_SCHEMA,
  },
};

const SCHEME_HINT =
  "for example acme: { headers: { X-Acme-Signature: 'sha256={signature}' }, signs: '{body}', hash: sha256, encoding: hex }";

function parseScheme(name: string, value: unknown, origin: ConfigOrigin): SignatureScheme {
  const nameProblem = schemeNameProblem(name);
  if (nameProblem !== undefined) {
    throw configError(
      origin,
      `Expected the name of \`${origin.name}\` ${nameProblem}`,
      'give it another name',
    );
  }
  const problem = schemeProblem(value) ?? strayName(value);
  if (problem === undefined) return { ...(value as Omit<SignatureScheme, 'name'>), name }; // validated above
  throw unexpectedValue(originOfPart(origin, problem.part), problem.expected, problem.got, problem.hint);
}

/** The problem of a custom scheme that has a field `name`. In a config file, the key of the scheme is its name. */
function strayName(value: unknown): ReturnType<typeof schemeProblem> {
  if (!isObject(value) || value['name'] === undefined) return undefined;
  return {
    part: '.name',
    expected: 'to be left out',
    got: 'a value',
    hint: 'the key is the name of the scheme',
  };
}
