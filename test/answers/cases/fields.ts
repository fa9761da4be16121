import type { AnswerCase, AnswerTheme } from '../answer-case.ts';

interface Sent {
  readonly id: string;
  readonly title: string;
  readonly message: object;
  readonly flags?: readonly string[];
  readonly cause: string;
  readonly fix: string;
}

/** A message that `hooks send` refuses before it is sent, and for which no id is made up. */
function sent({ id, title, message, flags = [], ...rest }: Sent): AnswerCase {
  return {
    id: `send-${id}`,
    title,
    given: { files: { 'event.json': JSON.stringify(message) } },
    argv: ['send', '--json', '@event.json', '--url', 'http://127.0.0.1:9/', ...flags],
    exitCode: 2,
    never: ['anonymousId is', 'refused'],
    ...rest,
  };
}

const NO_ID = 'Expected `userId` or `anonymousId`, got neither';

/** An id in another spelling, with and without --strict. */
function misspelledId(id: string, key: string, fix: string, type = 'identify'): AnswerCase[] {
  const message = {
    type,
    ...(type === 'track' && { event: 'A' }),
    ...(type === 'group' && { groupId: 'g' }),
    [key]: 'u1',
  };
  const title = `a message has \`${key}\``;
  return [
    sent({ id, title, message, cause: NO_ID, fix }),
    sent({
      id: `${id}-strict`,
      title,
      message,
      flags: ['--strict'],
      cause: 'Expected only fields of',
      fix: fix.replace(/.* to (`\w+`)/, 'did you mean $1?'),
    }),
  ];
}

/** Another required field in another spelling, with and without --strict, which looks at fields once it knows the type. */
function misspelled(id: string, message: object, key: string, cause: string): AnswerCase[] {
  const hasType = 'type' in message;
  const title = `a ${hasType ? String(message.type) : 'message'} has \`${key}\``;
  const name = /`(\w+)`/.exec(cause)?.[1] ?? '';
  const fix = `rename \`${key}\` to \`${name}\``;
  const strictly = hasType
    ? { cause: 'Expected only fields of', fix: `did you mean \`${name}\`?` }
    : { cause, fix };
  return [
    sent({ id, title, message, cause, fix }),
    sent({ id: `${id}-strict`, title, message, flags: ['--strict'], ...strictly }),
  ];
}

const IDS: readonly AnswerCase[] = [
  ...misspelledId('user-id', 'user_id', 'rename `user_id` to `userId`'),
  ...misspelledId('user-id-caps', 'userID', 'rename `userID` to `userId`'),
  ...misspelledId('user-id-pascal', 'UserId', 'rename `UserId` to `userId`', 'track'),
  ...misspelledId('anonymous-id', 'anonymous_id', 'rename `anonymous_id` to `anonymousId`', 'track'),
  ...misspelledId('user-id-typo', 'usreId', 'rename `usreId` to `userId`', 'group'),
  sent({
    id: 'uid',
    title: 'a message has `uid`',
    message: { type: 'identify', uid: 'u1' },
    cause: NO_ID,
    fix: 'rename `uid` to `userId`',
  }),
];

const FIELD_CASES: readonly AnswerCase[] = [
  ...['eventName', 'event_name', 'Event', 'evnet'].flatMap((key, index) =>
    misspelled(`event-${index}`, { type: 'track', userId: 'u', [key]: 'A' }, key, 'Expected `event`'),
  ),
  ...['Type', 'tpye', 'message_type', 'action', 'kind', 'name'].flatMap((key, index) =>
    misspelled(`type-${index}`, { [key]: 'track', userId: 'u', event: 'A' }, key, 'Expected `type` to be'),
  ),
  ...misspelled('group-id', { type: 'group', userId: 'u', group_id: 'g' }, 'group_id', 'Expected `groupId`'),
  ...misspelled(
    'previous-id',
    { type: 'alias', userId: 'u', previous_id: 'p' },
    'previous_id',
    'Expected `previousId` (or `Previous ID`)',
  ),
  ...misspelled(
    'screen-name',
    { type: 'screen', userId: 'u', screenName: 'Home' },
    'screenName',
    'Expected `name`',
  ),
  sent({
    id: 'type-case',
    title: 'the type has a capital',
    message: { type: 'Track', userId: 'u', event: 'A' },
    cause: 'Expected `type` to be',
    fix: 'did you mean "track"?',
  }),
  sent({
    id: 'no-event',
    title: 'a track has no event',
    message: { type: 'track', userId: 'u' },
    cause: 'Expected `event`',
    fix: "give it with --event 'Order Completed'",
  }),
  sent({
    id: 'properties-text',
    title: 'the properties are a text',
    message: { type: 'track', userId: 'u', event: 'A', properties: '{}' },
    cause: 'Expected `properties` to be',
    fix: 'write it as {"key":"value"}, or leave it out',
  }),
  sent({
    id: 'local-time',
    title: 'the time has no zone',
    message: { type: 'track', userId: 'u', event: 'A', timestamp: '2026-11-20T21:10:05' },
    cause: 'Expected `timestamp` to be RFC 3339 with a zone',
    fix: 'add its zone or offset',
  }),
  sent({
    id: 'list',
    title: 'a list is given to send',
    message: [{ type: 'track' }],
    cause: 'Expected `--json` to be a JSON object, got a list',
    fix: 'use hooks replay for a list',
  }),
];

const CONFIG = 'webhooks: [http://127.0.0.1:9/]\n';

/** A name in `integrations` that is almost that of a destination. */
function integration(id: string, title: string, word: string, fix: string): AnswerCase {
  return {
    id: `send-integration-${id}`,
    title,
    given: { files: { '.hooksrc.yaml': CONFIG } },
    argv: ['send', 'track', '--event', 'A', '--user-id', 'u', '--integration', word],
    cause: `No destination is called ${word.split('=')[0]}`,
    fix,
    exitCode: 2,
  };
}

const INTEGRATIONS: readonly AnswerCase[] = [
  integration(
    'case',
    'a name of `integrations` has another case than the destination',
    'webhooks=false',
    'did you mean Webhooks?',
  ),
  integration('singular', 'a name of `integrations` lacks its s', 'Webhook=false', 'did you mean Webhooks?'),
  integration('all', 'All is written in small letters', 'all=false', 'did you mean All?'),
];

/** Fields of a message that are missing, misspelled or of another kind. */
export const FIELDS: AnswerTheme = {
  title: 'A message lacks a field, or has it in another spelling',
  cases: [...IDS, ...FIELD_CASES, ...INTEGRATIONS],
};
