import { captureBody, type Capture } from '../capture/capture.ts';
import { signedTitles, type Check } from './check.ts';

/** Makes a check that sends a captured body again with a new signature: a body that arrived before must be taken. `name` is the file's. */
export function captureCheck(capture: Capture, name: string): Check {
  const body = Buffer.from(captureBody(capture));
  return {
    code: 'capture',
    ...signedTitles(`the body of ${name}`),
    expects: 'taken',
    requests: (sample) => [sample.signed(body)],
  };
}
