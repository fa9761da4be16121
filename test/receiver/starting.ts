import type { ReceiverOptions, ConnectionRejection } from '../../src/receiver/options.ts';
import type { ReceivedRequest } from '../../src/receiver/received-request.ts';
import { startReceiver } from '../../src/app/explained.ts';
import type { Receiver } from '../../src/receiver/receiver.ts';
import { parseScript } from '../../src/receiver/response/script.ts';
import { afterEachTest } from '../clean-ups.ts';
import { RawConnection } from './raw-connection.ts';

export interface Started {
  readonly receiver: Receiver;
  readonly requests: ReceivedRequest[];
  readonly rejections: ConnectionRejection[];
  /** Connects, and writes `first` if it is given. */
  readonly connect: (first?: string | Uint8Array) => Promise<RawConnection>;
}

const open: Receiver[] = [];
afterEachTest(async () => {
  await Promise.all(open.splice(0).map((receiver) => receiver.close()));
});

/** Starts a receiver and collects its reports. Closes it when the test ends. */
export async function start(options: Partial<ReceiverOptions> = {}): Promise<Started> {
  const requests: ReceivedRequest[] = [];
  const rejections: ConnectionRejection[] = [];
  const receiver = await startReceiver({
    secrets: [],
    onRequest: (request) => requests.push(request),
    onRefused: (rejection) => rejections.push(rejection),
    ...options,
  });
  open.push(receiver);
  return { receiver, requests, rejections, connect: (first) => RawConnection.open(receiver.port, first) };
}

export function answered(script: string): Partial<ReceiverOptions> {
  return { script: parseScript(script) };
}
