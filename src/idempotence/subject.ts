import type { Message } from '../message/types.ts';

/** A message with its encoded body, which is the same on every attempt. */
export interface ProofMessage {
  /** Type of the message, numbered from the second of a type (`track`, `track 2`): unique in a run. */
  readonly label: string;
  readonly messageId: string;
  readonly message: Message;
  readonly body: Uint8Array;
}

/** The receiver under test: sends messages to it, reads its state, resets, kills and restarts it. */
export interface Subject {
  /** Resets the receiver and its state. Throws ConfigError or InputError if that fails. */
  readonly reset: () => Promise<void>;
  /**
   * Kills the receiver and its child processes. Undefined if hooks did not start the receiver, or if a kill would lose its
   * state.
   */
  readonly kill: (() => Promise<void>) | undefined;
  /** Restarts the receiver with the state that it left. Returns why it did not start; undefined if it did. */
  readonly revive: () => Promise<string | undefined>;
  /** Returns why the receiver can no longer respond. Undefined while it can. */
  readonly gone: () => string | undefined;
  readonly send: (message: ProofMessage, how?: ProofSendOptions) => Promise<ProofResponse>;
  /** Reads the state once. Throws InputError if it cannot be read. */
  readonly readState: () => Promise<string>;
}

/** Receives the function that releases a held request. */
export type SendHold = (release: () => void) => void;

export interface ProofSendOptions {
  /** Destroys the connection at the first byte of the response. */
  readonly cut?: boolean;
  /** Called when the connection is open. The request is sent once `release` is called. */
  readonly hold?: SendHold | undefined;
}

/** `taken`: 2xx. `rejected`: a sender gives up. `failing`: a sender tries again. `none`: no response. */
export interface ProofResponse {
  readonly kind: 'taken' | 'rejected' | 'failing' | 'none';
  readonly status?: number;
  /** The code of a network error. */
  readonly error?: string;
  /** Start of the response's body, with secrets redacted, not escaped for the terminal. */
  readonly reply?: string | undefined;
  readonly ms: number;
}
