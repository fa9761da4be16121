// Needs python3.
import { expect, it } from 'vitest';
import { MESSAGE_TYPES } from '../../src/message/types.ts';
import { sign } from '../sign.ts';
import { hooks } from './hooks.ts';
import { PYTHON_MISSING, startPythonReceiver } from './python-receiver.ts';
import { ROOT, SECRET, sorted } from './receiving.ts';

it.skipIf(PYTHON_MISSING !== undefined).concurrent(
  'what hooks replay sends is verified by a receiver in another language, and by one that re-serialises',
  async () => {
    const receiver = await startPythonReceiver({ secret: SECRET });
    try {
      const args = ['replay', 'fixtures/*.json', '--url', receiver.url, '--secret', SECRET];
      expect(await hooks(args, { cwd: ROOT })).toMatchObject({ code: 0 });
      const requests = await receiver.first(7);
      expect(sorted(requests.map(({ type }) => type))).toEqual(sorted(MESSAGE_TYPES));
      for (const { verdict, signature, bodyBase64 } of requests) {
        expect(verdict).toBe('valid');
        const body = Buffer.from(bodyBase64, 'base64').toString();
        expect(sign(JSON.stringify(JSON.parse(body)), SECRET)).toBe(signature);
      }
    } finally {
      await receiver.close();
    }
  },
);
