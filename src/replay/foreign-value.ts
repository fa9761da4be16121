import { isJsonObject, isMessageType, type JsonObject, type JsonValue } from '../message/types.ts';

/** JSON from another program that contains messages, such as an SQS event. */
interface ForeignValue {
  /** Noun phrase for the error sentence `this is …`, such as `an SQS event`. */
  readonly what: string;
  /** The jq filter that extracts the messages. */
  readonly filter: string;
}

/**
 * Explains a value that is not a message but contains messages, with a hint on how to send them. Undefined for other
 * values.
 */
export function foreignValueOf(
  value: JsonValue,
): { readonly reason: string; readonly hint: string } | undefined {
  if (isExported(value)) return EXPORTED;
  const found = knownValueOf(value);
  if (found === undefined) return undefined;
  const hint = `take the messages out: jq -c '${found.filter}' FILE | hooks replay -`;
  return { reason: `this is ${found.what}`, hint };
}

const EXPORTED = {
  reason: 'this is a line of hooks queue export --deliveries',
  hint: 'add these deliveries to a queue with hooks queue import FILE; for hooks replay, export without --deliveries',
};

/**
 * Whether a value is a line that `hooks queue export --deliveries` printed. The line of a delivery has a `type`, so it
 * looks like a message.
 */
export function isExported(value: JsonValue): boolean {
  if (!isJsonObject(value)) return false;
  const { seen, orderKeys, attempts, destination } = value;
  const isDelivery = Array.isArray(orderKeys) && Array.isArray(attempts) && typeof destination === 'string';
  return isDelivery || (isJsonObject(seen) && valueAt(seen, 'acceptedAt') !== undefined);
}

function knownValueOf(value: JsonValue): ForeignValue | undefined {
  if (typeof value === 'string') return textValueOf(value);
  if (!isJsonObject(value)) return undefined;
  const event = SERVICE_EVENTS.find(({ path }) => path.some((each) => valueAt(value, each) !== undefined));
  return event ?? listOf(value) ?? wrappedOf(value) ?? listBelow(value);
}

/** Recognizes a JSON string whose text looks like JSON, because it was encoded twice. */
function textValueOf(text: string): ForeignValue | undefined {
  const isJson = /^\s*[[{]/.test(text);
  return isJson
    ? { what: 'a string that contains JSON: it was encoded twice', filter: 'fromjson' }
    : undefined;
}

/** JSON of cloud services and tools, each recognized by any of the fields in `path`. */
const SERVICE_EVENTS: readonly (ForeignValue & { readonly path: readonly string[] })[] = [
  { path: ['Records.0.body'], what: 'an SQS event', filter: '.Records[].body | fromjson' },
  {
    path: ['Messages.0.Body'],
    what: 'the output of aws sqs receive-message',
    filter: '.Messages[].Body | fromjson',
  },
  { path: ['Records.0.Sns.Message'], what: 'an SNS event', filter: '.Records[].Sns.Message | fromjson' },
  {
    path: ['Records.0.kinesis.data'],
    what: 'a Kinesis event',
    filter: '.Records[].kinesis.data | @base64d | fromjson',
  },
  { path: ['message.data'], what: 'a Pub/Sub push message', filter: '.message.data | @base64d | fromjson' },
  { path: ['TopicArn'], what: 'an SNS notification', filter: '.Message | fromjson' },
  { path: ['detail-type'], what: 'an EventBridge event', filter: '.detail' },
  {
    path: ['httpMethod', 'requestContext'],
    what: 'an API Gateway or Lambda event',
    filter: 'if .isBase64Encoded then .body | @base64d else .body end | fromjson',
  },
  { path: ['hits.hits'], what: 'an Elasticsearch response', filter: '.hits.hits[]._source' },
];

function valueAt(value: JsonValue | undefined, path: string): JsonValue | undefined {
  return path.split('.').reduce<JsonValue | undefined>((inside, key) => {
    if (Array.isArray(inside)) return inside[Number(key)] as JsonValue | undefined; // isArray narrows to any[]
    return isJsonObject(inside) ? inside[key] : undefined;
  }, value);
}

/** Recognizes a list of messages in an object: `{"events":[…]}`. */
function listOf(value: JsonObject): ForeignValue | undefined {
  const key = Object.keys(value).find((each) => {
    const list = value[each];
    return Array.isArray(list) && isLikeMessage(list[0] as JsonValue | undefined); // isArray narrows to any[]
  });
  return key === undefined
    ? undefined
    : { what: `an object that lists messages as \`${key}\``, filter: `.${quotedKey(key)}[]` };
}

/** Recognizes a list of messages in a nested object: `{"data":{"events":[…]}}`. */
function listBelow(value: JsonObject): ForeignValue | undefined {
  for (const [outer, inside] of Object.entries(value)) {
    const list = isJsonObject(inside) ? listOf(inside) : undefined;
    if (list !== undefined) {
      const what = list.what.replace('`', `\`${outer}.`);
      return { what, filter: `.${quotedKey(outer)}${list.filter}` };
    }
  }
  return undefined;
}

/** Recognizes an object with a message in one field, as an object or JSON text (`{"payload":{…}}`), or in each field. */
function wrappedOf(value: JsonObject): ForeignValue | undefined {
  const values = Object.values(value);
  if (values.length > 1 && values.every(isLikeMessage)) {
    return { what: `an object that holds ${values.length} messages`, filter: '.[]' };
  }
  for (const [key, inside] of Object.entries(value)) {
    const what = `an object that holds a message as \`${key}\``;
    if (isLikeMessage(inside)) return { what, filter: `.${quotedKey(key)}` };
    if (typeof inside === 'string' && isMessageText(inside)) {
      return { what: `${what}, as a string`, filter: `.${quotedKey(key)} | fromjson` };
    }
  }
  return undefined;
}

function isLikeMessage(value: JsonValue | undefined): boolean {
  return isJsonObject(value) && isMessageType(value['type']);
}

/** Whether a string is the JSON of a message. Does not parse long strings, because the result is only used for a hint. */
function isMessageText(text: string): boolean {
  if (!text.trimStart().startsWith('{') || text.length > MAX_PARSED) return false;
  try {
    return isLikeMessage(JSON.parse(text) as JsonValue); // JSON.parse returns only these
  } catch {
    return false;
  }
}

const MAX_PARSED = 64 * 1024;

/** Returns a key as jq expects it after a dot: in quotes unless it is a plain name. */
function quotedKey(key: string): string {
  return /^[A-Za-z_]\w*$/.test(key) ? key : JSON.stringify(key);
}
