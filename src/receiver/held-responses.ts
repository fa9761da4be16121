import type { ServerResponse } from 'node:http';
import type { Socket } from 'node:net';

export interface Hold {
  /** What is waited for before the answer is given after all. Without it: never, for as long as the sender stays. */
  readonly until?: Waiting;
  /** Its sender, or the receiver, left first. */
  readonly onLeft: () => void;
}

/** Begins to wait, calls `give` when the time has come, never at once, and returns how to give up waiting. */
export type Waiting = (give: (then: () => void) => void) => () => void;

type Leaving = Set<() => void>;

/** The answers that wait: until they are due, their sender leaves or the receiver closes, whatever comes first. */
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
    const giveUp = until?.(end);
    const leave = (): void => {
      giveUp?.();
      end(onLeft);
    };
    this.#leave.add(leave);
    ofSender.add(leave);
    // Its sender has left already, and nobody tells of that again.
    if (response.req.socket.closed) leave();
  }

  /** Given when this resolves, at once without it; and also when the receiver closes: it is reported as given. */
  holdUntil(response: ServerResponse, ready: Promise<unknown> | undefined, answer: () => void): void {
    if (ready === undefined) return answer();
    this.hold(response, {
      until: (give) => {
        void ready.then(() => give(answer));
        return () => {};
      },
      onLeft: () => {
        if (!response.req.socket.destroyed) answer();
      },
    });
  }

  /** Gives up all of them; their connections are the caller's to close. */
  release(): void {
    for (const leave of this.#leave) leave();
  }

  /** By connection: Node tells a pipelined response of its sender's end only when it is that one's turn to be sent. */
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
