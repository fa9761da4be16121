import { ConfigError } from '../../errors.ts';
import { isObject, kindOf } from '../../validate-options.ts';
import { printable } from '../../redact.ts';
import { configError, unexpectedValue, type ConfigOrigin } from '../config-origin.ts';
import { valueAt } from '../layer.ts';
import { suggestion } from '../other-names.ts';
import { SHORT_FORM_KEYS } from './fields.ts';
import { fileShape, shapeBelow, type FileShape } from './file-shape.ts';

/**
 * Lists the problems in the shape of a file: unknown keys, and values that must be objects but are not. The values of
 * settings are validated by their kinds. `file` is its displayed name.
 */
export function shapeProblems(content: unknown, file: string): ConfigError[] {
  if (!isObject(content)) return [notAnObject(content, file)];
  return [...placeProblems(content, fileShape(), { file, path: [] }), ...mixedForms(content, file)];
}

function notAnObject(content: unknown, file: string): ConfigError {
  return new ConfigError(`Expected ${file} to hold an object, got ${kindOf(content)}`, {
    origin: file,
    hint: 'write settings by name: webhooks: [https://host/path]',
  });
}

function mixedForms(content: unknown, file: string): ConfigError[] {
  const short = SHORT_FORM_KEYS.find((key) => valueAt(content, [key]) !== undefined);
  if (short === undefined || valueAt(content, ['sources']) === undefined) return [];
  const error = configError(
    { name: short, file },
    `\`${short}\` and \`sources\` cannot be in the same file`,
    `move \`${short}\` into ${short === 'writeKey' ? 'a source' : 'a destination of a source'} (the long form), or leave \`sources\` out (the short form)`,
  );
  return [error];
}

interface PlaceInFile {
  readonly file: string;
  readonly path: readonly string[];
}

function placeProblems(value: unknown, shape: FileShape, place: PlaceInFile): ConfigError[] {
  if (value === undefined || shape.kind === 'setting') return [];
  if (shape.kind === 'text') {
    return typeof value === 'string' ? [] : [wrongKind(value, 'to be a string', place)];
  }
  if (!isObject(value)) return [wrongKind(value, 'to be an object', place)];
  return Object.entries(value).flatMap(([name, inner]) => {
    const innerShape = shapeBelow(shape, name);
    if (innerShape === undefined) return [unknownKey(name, shape, place)];
    return placeProblems(inner, innerShape, { ...place, path: [...place.path, name] });
  });
}

function wrongKind(value: unknown, expected: string, { path, file }: PlaceInFile): ConfigError {
  const origin: ConfigOrigin = { name: spelled(path), file };
  const hint = 'hooks init FILE writes a file with every setting in its place';
  return unexpectedValue(origin, expected, kindOf(value), hint);
}

function unknownKey(key: string, shape: FileShape, { path, file }: PlaceInFile): ConfigError {
  const known = shape.kind === 'keys' ? Object.keys(shape.keys).filter((each) => each !== '$schema') : [];
  const name = spelled([...path, key]);
  const near = suggestion(key, known);
  const place = placeOf(key, path);
  const meant = near === undefined ? placeOf(key, path, suggestion) : [...path, near];
  const hint =
    place !== undefined
      ? `move it to \`${spelled(place)}\``
      : meant === undefined
        ? `there are: ${known.join(', ')}`
        : `did you mean \`${spelled(meant)}\`?`;
  return configError({ name, file }, `Unknown setting \`${name}\``, hint);
}

/** Returns the name in a list that a key stands for. */
type FindName = (key: string, names: readonly string[]) => string | undefined;

const sameName: FindName = (key, names) => names.find((name) => name === key);

/**
 * Returns the path at which a config file allows a key that it does not allow below `path`: the shortest below the nearest
 * object around the key. Undefined if `find` finds no such name.
 */
function placeOf(
  key: string,
  path: readonly string[],
  find: FindName = sameName,
): readonly string[] | undefined {
  const around = path.reduce<readonly FileShape[]>(
    (shapes, name) => [...shapes, ...shapes.slice(-1).flatMap((last) => shapeBelow(last, name) ?? [])],
    [fileShape()],
  );
  for (const [depth, shape] of [...around.entries()].toReversed()) {
    const places = placesIn(shape);
    const name = find(key, [...new Set(places.map((place) => place.at(-1) ?? ''))]);
    const [shortest] = places
      .filter((place) => place.at(-1) === name)
      .toSorted((one, other) => one.length - other.length);
    if (shortest !== undefined) return [...path.slice(0, depth), ...shortest];
  }
  return undefined;
}

/** Lists the paths of all keys below a shape. */
function placesIn(shape: FileShape): readonly (readonly string[])[] {
  if (shape.kind === 'names') return placesIn(shape.each).map((below) => ['NAME', ...below]);
  if (shape.kind !== 'keys') return [];
  return Object.entries(shape.keys).flatMap(([name, below]) => [
    [name],
    ...placesIn(below).map((place) => [name, ...place]),
  ]);
}

function spelled(path: readonly string[]): string {
  return path.map((part) => printable(part, 80)).join('.');
}
