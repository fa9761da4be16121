import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface Hold {
  /** Starts waiting until the response is due. Undefined to hold the response until the sender disconnects. */
  readonly until?: Waiting;
  /** Called instead of the response if the sender disconnects or the receiver closes before the response is due. */
  readonly onLeft: () => void;
}

/**
 * Calls `release` when the response is due, never synchronously, with a function that sends the response. Returns a function
 * that stops waiting.
 */
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
    // The socket of a sender that disconnected earlier does not emit `close` again.
    if (response.req.socket.closed) leave();
  }

  /**
   * Calls `respond` when `ready` resolves, or at once if `ready` is undefined. Calls it also when the receiver closes,
   * because the response is already reported.
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

  /** Drops all held responses. The caller must close their connections. */
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
