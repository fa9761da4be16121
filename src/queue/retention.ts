/** How long settled deliveries stay in the queue. A store may remove them later, but not earlier. */
export interface RetentionOptions {
  /** Milliseconds that a delivered delivery stays in the queue. */
  readonly deliveredMs: number;
  /** Milliseconds that a dead letter stays in the queue. */
  readonly deadMs: number;
}
