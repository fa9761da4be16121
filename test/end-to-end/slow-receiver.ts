import { receiver, type HostileReceiver } from '../hostile-receivers.ts';

/** Answers everything with 200, each after a time. */
export interface SlowReceiver extends HostileReceiver {
  /** For what comes from now on. */
  setDelay(ms: number): void;
}

export async function slowReceiver(delayMs: number): Promise<SlowReceiver> {
  let delay = delayMs;
  const hostile = await receiver((socket) => {
    const forget = (): void => clearTimeout(timer);
    const timer = setTimeout(() => {
      socket.off('close', forget);
      socket.write('HTTP/1.1 200 OK\r\nContent-Length: 0\r\n\r\n');
    }, delay);
    socket.once('close', forget);
  });
  const setDelay = (ms: number): void => {
    delay = ms;
  };
  return Object.assign(hostile, { setDelay });
}
