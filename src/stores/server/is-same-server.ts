import { randomUUID } from 'node:crypto';
import type { Server } from './server.ts';

/** Nobody takes or lists what is in it: a mark that a killed process leaves there is never delivered. */
const MARKS = 'hooks-marks';

/** Whether both lead to one store, whatever their URLs say: by a mark that is left in one and looked for in the other. */
export async function isSameServer(one: Server, other: Server): Promise<boolean> {
  const id = randomUUID();
  await one.add([{ series: MARKS, id, name: 'mark', text: '{}', addedAt: Date.now() }]);
  try {
    return (await other.series(MARKS).get(id)) !== undefined;
  } finally {
    await one.series(MARKS).remove(id);
  }
}
