/** How long settled deliveries stay in the queue. A store may remove them later, never earlier. */
export interface RetentionOptions {
  /** How long a delivered one stays. Ms. */
  readonly deliveredMs: number;
  /** How long a dead letter stays. Ms. */
  readonly deadMs: number;
}
