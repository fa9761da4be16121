import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface Hold {
  /** Waits until the response is due. Without it the response is held until the sender disconnects. */
  readonly until?: Waiting;
  /** Called if the sender disconnects or the receiver closes first. */
  readonly onLeft: () => void;
}

/** Calls `release` when the response is due, never synchronously. Returns a function that stops waiting. */
export type Waiting = (release: (then: () => void) => void) => () => void;

type Leaving = Set<() => void>;

/** Holds responses until they are due, their sender disconnects or the receiver closes, whichever is first. */
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
    // If the sender has already disconnected, `close` will not be emitted again.
    if (response.req.socket.closed) leave();
  }

  /**
   * Responds when `ready` resolves, at once without it. Also responds when the receiver closes, because the response is
   * already reported.
   */
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

  /**
   * The callbacks for held responses of a connection. Per socket, because Node emits `close` of a pipelined response only
   * when its turn to be sent comes.
   */
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
