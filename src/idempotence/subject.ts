import type { Message } from '../message/types.ts';

/** A message with the bytes of its every attempt. */
export interface ProofMessage {
  /** Distinguishes it from the others of the run: its type, numbered from the second. */
  readonly label: string;
  readonly messageId: string;
  readonly message: Message;
  readonly body: Uint8Array;
}

/** The receiver whose state is compared, with all that can be done to it. */
export interface Subject {
  /** Brings the receiver and its state back to the start. Throws ConfigError or InputError when that fails. */
  readonly reset: () => Promise<void>;
  /** Kills the receiver and all that it has started; undefined when it was not started here, or its state would be lost with it. */
  readonly kill: (() => Promise<void>) | undefined;
  /** Starts it again with the state that it left. Returns why it did not start. */
  readonly revive: () => Promise<string | undefined>;
  /** Returns why the receiver can no longer respond; undefined while it can. */
  readonly gone: () => string | undefined;
  readonly send: (message: ProofMessage, how?: ProofSendOptions) => Promise<ProofResponse>;
  /** Reads the state once. Throws InputError when it cannot be read. */
  readonly readState: () => Promise<string>;
}

export type SendHold = (release: () => void) => void;

export interface ProofSendOptions {
  /** Destroys the connection at the first byte of the response. */
  readonly cut?: boolean;
  /** Called when the connection is open: nothing is sent before the function that it gets is called. */
  readonly hold?: SendHold | undefined;
}

/** `taken`: 2xx. `refused`: what a sender does not send again. `failing`: what it sends again. `none`: no response. */
export interface ProofResponse {
  readonly kind: 'taken' | 'refused' | 'failing' | 'none';
  readonly status?: number;
  /** The code of a network error. */
  readonly error?: string;
  /** The beginning of the response's body, without secrets, unescaped. */
  readonly reply?: string | undefined;
  readonly ms: number;
}
