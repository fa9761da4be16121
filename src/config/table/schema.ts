import * as z from 'zod';
import { ConfigError } from '../../errors.ts';
import { kindOf } from '../../kind-of.ts';
import { printable } from '../../redact.ts';
import { defaultText, fieldOf, type Key, SHORT_FORM_KEYS } from './fields.ts';
import { valueAt } from '../layer.ts';
import { configError, unexpectedValue, type ConfigOrigin } from '../config-origin.ts';
import { suggestion } from '../other-names.ts';

// Structure only: which keys there are. A value is checked by its field's kind, in the same words wherever it was
// given; the JSON Schema of an editor gets what the kind knows of it.

const delivery = z.strictObject({
  strategy: value('delivery.strategy'),
  timeout: value('delivery.timeout'),
  retryFor: value('delivery.retryFor'),
  concurrency: value('delivery.concurrency'),
  ca: value('delivery.ca'),
  health: z.strictObject({ failures: value('delivery.health.failures') }).optional(),
});

const destination = z.strictObject({
  enabled: value('enabled'),
  sharedSecret: value('sharedSecret'),
  webhooks: value('webhooks'),
  delivery: delivery.optional(),
});

const source = z.strictObject({
  writeKey: value('writeKey'),
  destinations: z.record(z.string(), destination).optional(),
});

/** A config file, in its short or its long form. */
const fileSchema = z
  .strictObject({
    $schema: z.string().optional(),
    writeKey: value('writeKey'),
    endpoint: value('endpoint'),
    sharedSecret: value('sharedSecret'),
    webhooks: value('webhooks'),
    delivery: delivery.optional(),
    client: z
      .strictObject({
        flushAt: value('client.flushAt'),
        flushAfter: value('client.flushAfter'),
        maxQueued: value('client.maxQueued'),
        whenFull: value('client.whenFull'),
      })
      .optional(),
    store: value('store'),
    retention: z
      .strictObject({ delivered: value('retention.delivered'), dead: value('retention.dead') })
      .optional(),
    sources: z.record(z.string(), source).optional(),
  })
  .meta({
    title: 'Configuration of hooks',
    not: { required: ['sources'], anyOf: SHORT_FORM_KEYS.map((key) => ({ required: [key] })) },
  });

/** Any value, described for the JSON Schema by its field. */
function value(key: Key) {
  const { kind, describe, otherwise } = fieldOf(key);
  const standard = defaultText(key) ?? otherwise;
  const description = standard === undefined ? describe : `${describe} (default: ${standard})`;
  return z
    .unknown()
    .meta({ ...kind.schema, description })
    .optional();
}

/** The draft-07 JSON Schema for editors. */
export function jsonSchemaOfFile(): object {
  return z.toJSONSchema(fileSchema, { target: 'draft-7', io: 'input' });
}

/** Throws ConfigError for the first thing in a file that has the wrong shape. `file` is its name as shown. */
export function checkShape(content: unknown, file: string): void {
  const result = fileSchema.safeParse(content);
  const [issue] = result.error?.issues ?? [];
  if (issue !== undefined) throw complaint(issue, content, file);
  const short = SHORT_FORM_KEYS.find((key) => valueAt(content, [key]) !== undefined);
  if (short === undefined || valueAt(content, ['sources']) === undefined) return;
  throw configError(
    { name: short, file },
    `\`${short}\` and \`sources\` cannot stand in one file`,
    `move \`${short}\` into ${short === 'writeKey' ? 'a source' : 'a destination of a source'} (the long form), or leave \`sources\` out (the short form)`,
  );
}

function complaint(issue: z.core.$ZodIssue, content: unknown, file: string): ConfigError {
  const path = issue.path.map(String);
  if (issue.code === 'unrecognized_keys') return unknownKey(issue.keys[0] ?? '', path, file);
  if (path.length === 0) {
    const got = kindOf(content);
    return new ConfigError(`Expected ${file} to hold an object, got ${got}`, {
      origin: file,
      hint: 'write settings by their names: webhooks: [https://host/path]',
    });
  }
  const origin: ConfigOrigin = { name: path.map((part) => printable(part, 80)).join('.'), file };
  const what = path[0] === '$schema' ? 'to be a string' : 'to be an object';
  const hint = 'hooks init FILE writes a file with every setting in its place';
  return unexpectedValue(origin, what, kindOf(valueAt(content, path)), hint);
}

function unknownKey(key: string, path: readonly string[], file: string): ConfigError {
  const known = knownKeysAt(path);
  const near = suggestion(key, known);
  const spelled = (last: string): string => [...path, last].map((part) => printable(part, 80)).join('.');
  return configError(
    { name: spelled(key), file },
    `Unknown setting \`${spelled(key)}\``,
    near === undefined ? `there are: ${known.join(', ')}` : `did you mean \`${spelled(near)}\`?`,
  );
}

/** The keys of the schema at a path of a file: below `sources` and `destinations` any name leads on. */
function knownKeysAt(path: readonly string[]): string[] {
  let schema: unknown = fileSchema;
  for (const part of path) schema = stepInto(schema, part);
  schema = unwrapped(schema);
  return schema instanceof z.ZodObject ? Object.keys(schema.shape).filter((key) => key !== '$schema') : [];
}

function stepInto(schema: unknown, part: string): unknown {
  const inner = unwrapped(schema);
  if (inner instanceof z.ZodRecord) return inner.valueType;
  return inner instanceof z.ZodObject ? (inner.shape as Record<string, unknown>)[part] : undefined; // zod types a shape by its keys
}

function unwrapped(schema: unknown): unknown {
  return schema instanceof z.ZodOptional ? schema.unwrap() : schema;
}
