import { receiver, type HostileReceiver } from '../hostile-receivers.ts';

/** A receiver that responds to each request with 200 after a delay. */
export interface SlowReceiver extends HostileReceiver {
  /** Sets the delay for further requests. */
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
