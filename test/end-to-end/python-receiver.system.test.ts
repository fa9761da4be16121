// Needs python3.
import { afterEach, describe, expect, it } from 'vitest';
import { PYTHON_MISSING, startPythonReceiver, type PythonReceiver } from './python-receiver.ts';
import { sign } from '../sign.ts';

const BODY = '{"type":"track","event":"é"}';

describe.skipIf(PYTHON_MISSING !== undefined)(`the Python receiver ${PYTHON_MISSING ?? ''}`, () => {
  let receiver: PythonReceiver | undefined;
  afterEach(() => receiver?.close());

  it('judges signatures over the raw bytes by its own means', async () => {
    receiver = await startPythonReceiver({ secret: 's3cret' });
    const valid = sign(BODY, 's3cret');
    const statuses = [];
    for (const signature of [valid, valid.replace(/^./, 'x'), undefined]) {
      const headers = signature === undefined ? undefined : { 'X-Signature': signature };
      const response = await fetch(`${receiver.url}/hook`, {
        method: 'POST',
        body: BODY,
        ...(headers && { headers }),
      });
      statuses.push(response.status);
    }
    expect(statuses).toEqual([200, 401, 401]);
    const requests = await receiver.first(3);
    expect(requests.map(({ verdict }) => verdict)).toEqual(['valid', 'invalid', 'unsigned']);
    expect(requests[0]).toMatchObject({ type: 'track', path: '/hook', signature: valid });
    expect(Buffer.from(requests[0]?.bodyBase64 ?? '', 'base64').toString()).toBe(BODY);
  });

  it('checks nothing without a secret, and takes a body that is no JSON', async () => {
    receiver = await startPythonReceiver();
    const response = await fetch(receiver.url, { method: 'POST', body: 'no JSON' });
    expect(response.status).toBe(200);
    expect(await receiver.first(1)).toMatchObject([{ type: null, verdict: 'unchecked' }]);
  });
});
