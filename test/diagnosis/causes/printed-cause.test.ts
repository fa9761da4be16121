import { expect, it } from 'vitest';
import { causeInOutput } from '../../../src/diagnosis/causes/printed-cause.ts';

const URL = 'http://127.0.0.1:3000/webhook';
const OBJECT =
  'The "data" argument must be of type string or an instance of Buffer, TypedArray, or DataView. Received an instance of Object';

it.each([
  [
    'a stack of Node after a line of its log',
    `POST /webhook\nTypeError [ERR_INVALID_ARG_TYPE]: ${OBJECT}\n    at Hmac.update (node:internal/crypto/hash:141:11)`,
    `its output says: "TypeError [ERR_INVALID_ARG_TYPE]: ${OBJECT}"`,
    'body-not-bytes',
  ],
  [
    'a traceback of Python',
    'Traceback (most recent call last):\n  File "app.py", line 3, in do_POST\n    raise ValueError("x")\nValueError: no user\n',
    'its output says: "ValueError: no user"',
    'exception',
  ],
])('quotes the error in %s', (_, printed, says, code) => {
  expect(causeInOutput(printed, { status: 500, url: URL })).toMatchObject({ says, code, kind: 'receiver' });
});

it('explains a rejection only by an error that does not come from a wrong signature', () => {
  const rejected = (printed: string) => causeInOutput(printed, { status: 401, url: URL })?.code;
  expect(rejected(OBJECT)).toBe('body-not-bytes');
  expect(rejected('Error: Invalid signature\n    at a (b.js:1:1)')).toBeUndefined();
  expect(causeInOutput('listening on 3000\nPOST /webhook 500', { status: 500, url: URL })).toBeUndefined();
});
