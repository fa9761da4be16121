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

it.each([
  [
    "a warning of Python's logging among access lines",
    "WARNING:tornado.access:403 POST /hook (127.0.0.1) 0.84ms\nWARNING:tornado.general:403 POST /hook (127.0.0.1): '_xsrf' argument missing from POST",
    403,
    "WARNING:tornado.general:403 POST /hook (127.0.0.1): '_xsrf' argument missing from POST",
    'csrf',
  ],
  [
    'a warning of the Python interpreter',
    'app.py:7: RuntimeWarning: coroutine \'read\' was never awaited\n  body = read()\n127.0.0.1 - - [29/Nov/2026 01:44:46] "POST /hook HTTP/1.1" 401 -',
    401,
    "app.py:7: RuntimeWarning: coroutine 'read' was never awaited body = read()",
    'output-words',
  ],
  [
    'a line of pino',
    '{"level":30,"msg":"incoming request"}\n{"level":40,"msg":"tenant header X-Tenant is required"}\n{"level":30,"msg":"request completed","res":{"statusCode":400}}',
    400,
    'tenant header X-Tenant is required',
    'validation',
  ],
  [
    'a line of logfmt with its time',
    '2026/11/29 01:39:44 level=INFO msg=request path=/hook\n2026/11/29 01:39:44 level=ERROR msg="no queue"',
    500,
    'level=ERROR msg="no queue"',
    'failure-words',
  ],
  [
    'a line without a level that negates',
    '2026/11/29 01:39:44 reading body: gzip: invalid header',
    400,
    'reading body: gzip: invalid header',
    'output-words',
  ],
])('quotes %s', (_, printed, status, quotation, code) => {
  const cause = causeInOutput(printed, { status, url: URL });
  expect(cause?.says.startsWith(`its output says: "${quotation}"`), cause?.says).toBe(true);
  expect(cause?.code).toBe(code);
});

it('quotes no line that every request has', () => {
  const lines = [
    '[Sun Nov 29 01:39:41 2026] 127.0.0.1:47360 [401]: POST /hook',
    'INFO:     127.0.0.1:47360 - "POST /hook HTTP/1.1" 401 Unauthorized',
    'ERROR POST /hook 401 12 ms',
    'handled the hook',
  ];
  expect(causeInOutput(lines.join('\n'), { status: 401, url: URL })).toBeUndefined();
});

it('explains a rejection only by an error that does not come from a wrong signature', () => {
  const rejected = (printed: string) => causeInOutput(printed, { status: 401, url: URL })?.code;
  expect(rejected(OBJECT)).toBe('body-not-bytes');
  expect(rejected('Error: Invalid signature\n    at a (b.js:1:1)')).toBeUndefined();
  expect(causeInOutput('listening on 3000\nPOST /webhook 500', { status: 500, url: URL })).toBeUndefined();
});
