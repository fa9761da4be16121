import { setFlagsFromString } from 'node:v8';
import { runInNewContext } from 'node:vm';

setFlagsFromString('--expose-gc');

/** Runs V8's garbage collector. */
export const collectGarbage = runInNewContext('gc') as () => void; // what the flag provides
