import { ConfigError, ValidationError } from '../../../errors.ts';
import { isJson, readJson } from '../../../message/json/read-json.ts';
import type { JsonObject, JsonValue } from '../../../message/types.ts';

/** An object under construction; null prototypes keep a key such as `__proto__` an ordinary one. */
type Tree = { [key: string]: JsonValue | Tree };

/**
 * Makes one map of `path.to.key=value` words. `=` reads the value as JSON where it is JSON, else as text; `:=` insists on
 * JSON, `==` on text. A dot that belongs to a key is written `\.`. Later words win over `base` and over earlier ones.
 */
export function assignAll(words: readonly string[], flag: string, base: JsonObject = {}): JsonObject {
  const root = copyTree(base);
  for (const word of words) assign(root, readAssignment(word, flag), flag);
  return root;
}

/** Merges two objects: where both have a key, objects are merged, and of other values that of `over` wins. */
export function mergeObjects(base: JsonObject, over: JsonObject): JsonObject {
  const merged = copyTree(base);
  for (const [key, value] of Object.entries(over)) {
    const before = merged[key];
    merged[key] = isTree(before) && isTree(value) ? mergeObjects(before, value) : value;
  }
  return merged;
}

interface Assignment {
  readonly word: string;
  readonly path: readonly string[];
  readonly value: JsonValue;
}

function readAssignment(word: string, flag: string): Assignment {
  const split = /^((?:\\.|[^=\\])*?)(:=|==|=)([^]*)$/.exec(word);
  const [, path = '', operator = '', text = ''] = split ?? [];
  if (split === null || path === '') {
    throw new ConfigError(`Expected \`${flag}\` to be key=value, got ${JSON.stringify(word)}`, {
      flag,
      hint: exampleOf(flag),
    });
  }
  return { word, path: splitPath(path), value: readValue(text, operator, flag, path) };
}

function exampleOf(flag: string): string {
  if (flag === '--integration') return `give for example ${flag} All=false ${flag} Webhooks=true`;
  return `give for example ${flag} plan=pro, ${flag} cart.total=12.5, ${flag} zip==01234 (text), ${flag} tags:='["a"]' (JSON)`;
}

/** `a.b\.c` is `a` and `b.c`. */
function splitPath(path: string): string[] {
  return [...path.matchAll(/(?:\\.|[^.\\])+|(?<=^|\.)(?=\.|$)/g)].map(([part]) =>
    part.replace(/\\(.)/g, '$1'),
  );
}

function readValue(text: string, operator: string, flag: string, path: string): JsonValue {
  if (operator === '==') return text;
  if (operator === '=' && !isJson(text)) return text;
  try {
    return readJson(Buffer.from(text));
  } catch (error) {
    if (error instanceof ValidationError) {
      throw new ConfigError(
        `Expected \`${flag} ${path}\` to be a value that JSON can carry: ${error.message}`,
        {
          flag,
          hint: `write ${flag} ${path}==… to send it as text`,
          cause: error,
        },
      );
    }
    throw new ConfigError(
      `Expected \`${flag} ${path}\` to be JSON after \`:=\`, got ${JSON.stringify(text)}`,
      {
        flag,
        hint: `quote it for your shell, or use = for text`,
        cause: error,
      },
    );
  }
}

function assign(root: Tree, { path, value, word }: Assignment, flag: string): void {
  let node = root;
  for (const key of path.slice(0, -1)) {
    const next = node[key] ?? (node[key] = newTree());
    if (!isTree(next)) {
      throw new ConfigError(`\`${flag} ${word}\` goes into \`${key}\`, which is already a value`, {
        flag,
        hint: 'give the key either a value or keys of its own',
      });
    }
    node = next;
  }
  node[path.at(-1) ?? ''] = isTree(value) ? copyTree(value) : value;
}

function copyTree(value: JsonObject): Tree {
  return Object.assign(
    newTree(),
    Object.fromEntries(
      Object.entries(value).map(([key, part]) => [key, isTree(part) ? copyTree(part) : part]),
    ),
  );
}

function newTree(): Tree {
  return Object.create(null) as Tree; // no prototype, nothing on it: an empty Tree
}

function isTree(value: JsonValue | Tree | undefined): value is Tree {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}
