import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface Hold {
  /** Waits until the response is due. Without it the response is held for as long as the sender stays. */
  readonly until?: Waiting;
  /** Called when the sender leaves or the receiver closes first. */
  readonly onLeft: () => void;
}

/** Begins to wait, calls `release` when the response is due, never synchronously, and returns how to stop waiting. */
export type Waiting = (release: (then: () => void) => void) => () => void;

type Leaving = Set<() => void>;

/** Holds responses until they are due, their sender leaves or the receiver closes, whichever comes first. */
export class HeldResponses {
  readonly #leave: Leaving = new Set();
  readonly #leaveOf = new WeakMap<Socket, Leaving>();

  hold(response: ServerResponse, { until, onLeft }: Hold): void {
    const ofSender = this.#ofSender(response.req.socket);
    let isOver = false;
    const end = (then: () => void): void => {
      if (isOver) return;
      isOver = true;
      this.#leave.delete(leave);
      ofSender.delete(leave);
      then();
    };
    const stopWaiting = until?.(end);
    const leave = (): void => {
      stopWaiting?.();
      end(onLeft);
    };
    this.#leave.add(leave);
    ofSender.add(leave);
    // The sender has left already: `close` will not be emitted again.
    if (response.req.socket.closed) leave();
  }

  /** Responds when `ready` resolves, at once without it; also when the receiver closes, since the response is already reported. */
  holdUntil(response: ServerResponse, ready: Promise<unknown> | undefined, respond: () => void): void {
    if (ready === undefined) return respond();
    this.hold(response, {
      until: (release) => {
        void ready.then(() => release(respond));
        return () => {};
      },
      onLeft: () => {
        if (!response.req.socket.destroyed) respond();
      },
    });
  }

  /** Drops all held responses; the caller closes their connections. */
  release(): void {
    for (const leave of this.#leave) leave();
  }

  /** The responses held for a connection: Node closes a pipelined response only when its turn to be sent has come. */
  #ofSender(socket: Socket): Leaving {
    const known = this.#leaveOf.get(socket);
    if (known !== undefined) return known;
    const waiting: Leaving = new Set();
    this.#leaveOf.set(socket, waiting);
    socket.once('close', () => {
      for (const leave of waiting) leave();
    });
    return waiting;
  }
}
