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
  const near = suggestion(key, known);
  const name = spelled([...path, key]);
  const below = placeBelow(key, shape, path);
  const place = below === undefined && near === undefined ? nearestPlace(key, path) : below;
  return configError(
    { name, file },
    `Unknown setting \`${name}\``,
    place !== undefined
      ? `move it to \`${place}\``
      : near === undefined
        ? `there are: ${known.join(', ')}`
        : `did you mean \`${spelled([...path, near])}\`?`,
  );
}

/** Returns the path of a key in the nearest object above that allows it, or below such an object. Undefined if no object does. */
function nearestPlace(key: string, path: readonly string[]): string | undefined {
  const above = path.slice(0, -1);
  const shape = above.reduce<FileShape | undefined>(
    (each, name) => each && shapeBelow(each, name),
    fileShape(),
  );
  const place = shape && placeBelow(key, shape, above);
  return place ?? (path.length === 0 ? undefined : nearestPlace(key, above));
}

/** Returns the shortest path below `path`, whose shape this is, at which a config file allows a key. Undefined if there is none. */
function placeBelow(key: string, shape: FileShape, path: readonly string[]): string | undefined {
  const [shortest] = placesOf(shape, key).toSorted((one, other) => one.length - other.length);
  return shortest === undefined ? undefined : [spelled(path), shortest].filter(Boolean).join('.');
}

function placesOf(shape: FileShape, key: string): string[] {
  if (shape.kind === 'names') return placesOf(shape.each, key).map((below) => `NAME.${below}`);
  if (shape.kind !== 'keys') return [];
  return Object.entries(shape.keys).flatMap(([name, below]) => [
    ...(name === key ? [name] : []),
    ...placesOf(below, key).map((place) => `${name}.${place}`),
  ]);
}

function spelled(path: readonly string[]): string {
  return path.map((part) => printable(part, 80)).join('.');
}
