import type { MessageType } from '../types.ts';

/**
 * Kind of a field's value. `name` is a non-empty string. `id` is a string that counts as absent if it is empty, because
 * RudderStack's browser library sends an empty user id for anonymous visitors. `text` can be empty. `any` is not validated.
 */
export type FieldKind =
  'type' | 'version' | 'name' | 'id' | 'text' | 'object' | 'timestamp' | 'integrations' | 'any';

/**
 * One top-level field of a message. Reading, validation, `--strict`, the order of the body and the JSON Schema are all
 * derived from these records.
 */
export interface MessageField {
  /** Name of the field in a Message. */
  readonly name: string;
  readonly kind: FieldKind;
  /** Description of the field, which editors show through the JSON Schema. */
  readonly about: string;
  /**
   * Position in the body. `row`: in the fixed order of the type. `rest`: after the row, in the order of the input. `last`:
   * at the end. `properties`: becomes a property of a page. `unsent`: not in the body.
   */
  readonly place: 'row' | 'rest' | 'last' | 'properties' | 'unsent';
  /**
   * `always`: every message of the type must have the field. `either`: it must have at least one of the fields marked
   * `either`. @default optional
   */
  readonly required?: 'always' | 'either';
  /** Whether the body has this field as `{}` if the input does not have the field. */
  readonly filled?: true;
  /** Name of the field in the body, if it differs from `name`. Inputs can use `name` or `wireName`. */
  readonly wireName?: string;
}

export const MESSAGE_VERSION = 1;

const VERSION: MessageField = {
  name: 'version',
  kind: 'version',
  place: 'row',
  about: 'The version of the message format: 1.',
};
const TYPE: MessageField = {
  name: 'type',
  kind: 'type',
  place: 'row',
  required: 'always',
  about: 'The kind of message.',
};
const TIMESTAMP: MessageField = {
  name: 'timestamp',
  kind: 'timestamp',
  place: 'row',
  about: 'When it happened: RFC 3339 with a zone or offset. Default: the time of the call.',
};
const USER_ID: MessageField = { name: 'userId', kind: 'id', place: 'row', about: 'The id of the user.' };
const ANONYMOUS_ID: MessageField = {
  name: 'anonymousId',
  kind: 'name',
  place: 'row',
  about: 'An id for a user who is not known yet.',
};
/** The ids of the user in the order of the body: `userId`, then `anonymousId`. */
const PERSON: readonly MessageField[] = [
  { ...USER_ID, required: 'either' },
  { ...ANONYMOUS_ID, required: 'either' },
];
const PROPERTIES: MessageField = {
  name: 'properties',
  kind: 'object',
  place: 'rest',
  about: 'Free-form properties.',
};
const TRAITS: MessageField = { name: 'traits', kind: 'object', place: 'row', about: 'Free-form traits.' };
const CONTEXT: MessageField = {
  name: 'context',
  kind: 'object',
  place: 'last',
  about: 'The context of the call: device, os, app, page, ip, locale …',
};

const OTHERS: readonly MessageField[] = [
  { name: 'messageId', kind: 'name', place: 'rest', about: 'The id of this message, unique.' },
  { name: 'channel', kind: 'any', place: 'rest', about: 'Where the call was made: browser, mobile, server.' },
  { name: 'receivedAt', kind: 'any', place: 'rest', about: 'When a service received it.' },
  { name: 'originalTimestamp', kind: 'any', place: 'rest', about: 'The time on the clock of the caller.' },
  { name: 'projectId', kind: 'any', place: 'rest', about: 'The id of the source.' },
  {
    name: 'integrations',
    kind: 'integrations',
    place: 'unsent',
    about: 'Maps destination names to whether they get the message; `All` is for names that are not listed.',
  },
  { name: 'sentAt', kind: 'any', place: 'unsent', about: 'When a client sent it. Never sent on.' },
  { name: 'writeKey', kind: 'any', place: 'unsent', about: 'The key of the source. Never sent on.' },
  { name: '_metadata', kind: 'any', place: 'unsent', about: 'Data of a client about itself. Never sent on.' },
  { name: '$schema', kind: 'any', place: 'unsent', about: 'For editors. Never sent on.' },
];

/**
 * The fields of each message type. Fields whose `place` is `row` are listed in the order of the body (contract, Messages on
 * the wire).
 */
export const MESSAGE_FIELDS = {
  page: [
    VERSION,
    TYPE,
    ...PERSON,
    { ...PROPERTIES, place: 'row', filled: true },
    TIMESTAMP,
    { name: 'name', kind: 'text', place: 'properties', about: 'The name of the page: a property.' },
    { name: 'category', kind: 'text', place: 'properties', about: 'The category of the page: a property.' },
    { ...TRAITS, place: 'properties', about: 'Properties of the page, as the batching client names them.' },
    CONTEXT,
    ...OTHERS,
  ],
  screen: [
    VERSION,
    TYPE,
    ...PERSON,
    { name: 'name', kind: 'name', place: 'row', required: 'always', about: 'The name of the screen.' },
    TIMESTAMP,
    { ...CONTEXT, filled: true },
    { name: 'category', kind: 'text', place: 'rest', about: 'The category of the screen.' },
    PROPERTIES,
    ...OTHERS,
  ],
  identify: [VERSION, TYPE, ...PERSON, { ...TRAITS, filled: true }, TIMESTAMP, CONTEXT, ...OTHERS],
  track: [
    VERSION,
    TYPE,
    ...PERSON,
    {
      name: 'event',
      kind: 'name',
      place: 'row',
      required: 'always',
      about: 'What happened: "Order Completed".',
    },
    { ...PROPERTIES, place: 'row', filled: true },
    TIMESTAMP,
    CONTEXT,
    ...OTHERS,
  ],
  alias: [
    VERSION,
    TYPE,
    {
      name: 'previousId',
      wireName: 'Previous ID',
      kind: 'name',
      place: 'row',
      required: 'always',
      about: 'The id that the user had.',
    },
    { ...USER_ID, wireName: 'User ID', required: 'always', about: 'The id that the user has from now on.' },
    TIMESTAMP,
    { ...ANONYMOUS_ID, place: 'rest' },
    CONTEXT,
    ...OTHERS,
  ],
  group: [
    VERSION,
    TYPE,
    { name: 'groupId', kind: 'name', place: 'row', required: 'always', about: 'The id of the group.' },
    ...PERSON,
    { ...TRAITS, filled: true },
    TIMESTAMP,
    { name: 'event', kind: 'text', place: 'rest', about: 'Accepted, not required.' },
    CONTEXT,
    ...OTHERS,
  ],
  delete: [
    { ...VERSION, place: 'unsent' },
    TYPE,
    { ...USER_ID, required: 'always' },
    ANONYMOUS_ID,
    TIMESTAMP,
    CONTEXT,
    ...OTHERS,
  ],
} as const satisfies Readonly<Record<MessageType, readonly MessageField[]>>;
