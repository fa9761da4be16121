/** JSON that a service or a tool wraps around a body. */
export interface Envelope {
  /** Description that follows the words "the body is": `an API Gateway or Lambda event, which holds the body`. */
  readonly what: string;
  readonly fix: string;
  /** Filters for jq that extract the body and its X-Signature. Undefined if the envelope does not have the signature. */
  readonly jq?: readonly [body: string, signature: string];
  /**
   * Returns the body in the envelope. Empty if the body cannot be found, undefined if the value is not an envelope of this
   * kind.
   */
  readonly inside: (value: Fields) => Uint8Array | string | undefined;
}

/** Finds the kind of envelope of a JSON value; undefined if it is not an envelope. */
export function envelopeOf(value: unknown): Envelope | undefined {
  const fields = fieldsOf(value);
  return fields && ENVELOPES.find(({ inside }) => inside(fields) !== undefined);
}

/** The body in an envelope; undefined if there is none. */
export function bodyInside(value: unknown): Uint8Array | string | undefined {
  const fields = fieldsOf(value);
  return fields && (envelopeOf(value)?.inside(fields) || undefined);
}

type Fields = Readonly<Record<string, unknown>>;

/** jq filter for the first request of a HAR file that has a body. */
const HAR_REQUEST = '[.log.entries[].request | select(.postData)][0]';

const ENVELOPES: readonly Envelope[] = [
  {
    what: 'a capture of hooks, which holds the body',
    fix: 'Give --format capture, to verify the body in it',
    inside: ({ capture, body, bodyBase64 }) =>
      capture === 1 ? (encodedText(bodyBase64, true) ?? textOf(body)) : undefined,
  },
  {
    what: 'an API Gateway or Lambda event, which holds the body',
    fix: 'Verify the body in it: event.body, or Buffer.from(event.body, "base64") where event.isBase64Encoded is true (jq -j .body)',
    jq: [
      'if .isBase64Encoded then .body | @base64d else .body end',
      '.headers | with_entries(.key |= ascii_downcase) | ."x-signature"',
    ],
    inside: ({ body, requestContext, httpMethod, isBase64Encoded, headers }) =>
      requestContext === undefined && httpMethod === undefined && (isBase64Encoded ?? headers) === undefined
        ? undefined
        : encodedText(body, isBase64Encoded === true),
  },
  {
    what: 'an SQS event, which holds a body in each record',
    fix: 'Verify the body of each record: record.body (jq -j ".Records[0].body")',
    inside: ({ Records }) => textOf(firstOf(Records)['body']),
  },
  {
    what: 'the output of aws sqs receive-message, which holds a body in each message',
    fix: 'Verify the body of each message (jq -j ".Messages[0].Body")',
    inside: ({ Messages }) => textOf(firstOf(Messages)['Body']),
  },
  {
    what: 'an SNS notification, which holds the message as a string',
    fix: 'Verify its Message: turn raw message delivery on, or take it out (jq -j .Message)',
    inside: ({ Type, Message }) => (Type === undefined ? undefined : textOf(Message)),
  },
  {
    what: 'an SNS event, which holds a message in each record',
    fix: 'Verify the message of each record (jq -j ".Records[0].Sns.Message")',
    inside: ({ Records }) => textOf(fieldsOf(firstOf(Records)['Sns'])?.['Message']),
  },
  {
    what: 'a Pub/Sub push message, which holds the body in base64',
    fix: 'Verify the bytes that message.data is the base64 of (jq -r .message.data | base64 -d)',
    inside: ({ message, subscription }) =>
      subscription === undefined ? undefined : encodedText(fieldsOf(message)?.['data'], true),
  },
  {
    what: 'a HAR file of a browser, which holds the bodies of all its requests',
    fix: `Verify one of them: jq -j '${HAR_REQUEST} | .postData.text' writes the first`,
    jq: [
      `${HAR_REQUEST} | .postData.text`,
      `${HAR_REQUEST} | .headers[] | select(.name | ascii_downcase == "x-signature") | .value`,
    ],
    inside: ({ log }) => harBody(fieldsOf(log)?.['entries']),
  },
  {
    what: 'the JSON of a Buffer of Node, which lists the bytes of the body',
    fix: 'Verify the Buffer itself: JSON.stringify(buffer) is not its text',
    inside: ({ type, data }) => (type === 'Buffer' && isBytes(data) ? Buffer.from(data) : undefined),
  },
  {
    what: 'an EventBridge event, which holds the message as its detail',
    fix: 'Verify the request that came in: EventBridge keeps the JSON of detail, not the bytes that were signed',
    inside: ({ detail, 'detail-type': type }) =>
      type === undefined || detail === undefined ? undefined : JSON.stringify(detail),
  },
];

function fieldsOf(value: unknown): Fields | undefined {
  // The cast is safe for any object, because the types of the fields stay unknown.
  return typeof value === 'object' && value !== null ? (value as Fields) : undefined;
}

function firstOf(list: unknown): Fields {
  return (Array.isArray(list) ? fieldsOf(list[0]) : undefined) ?? {};
}

function textOf(value: unknown): string | undefined {
  return typeof value === 'string' ? value : undefined;
}

function encodedText(value: unknown, isBase64: boolean): Uint8Array | string | undefined {
  const text = textOf(value);
  return text !== undefined && isBase64 ? Buffer.from(text, 'base64') : text;
}

function harBody(entries: unknown): string | undefined {
  if (!Array.isArray(entries)) return undefined;
  const bodies = entries.map((entry) => fieldsOf(fieldsOf(entry)?.['request'])?.['postData']);
  return textOf(fieldsOf(bodies.find(Boolean))?.['text']) ?? '';
}

function isBytes(list: unknown): list is readonly number[] {
  return Array.isArray(list) && list.every((each) => Number.isInteger(each));
}
