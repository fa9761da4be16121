import { ReusableMap } from '../../queue/reusable-map.ts';
import type { EngineEvent } from '../../engine/engine-event.ts';
import type { RoutedMessage } from '../../engine/router.ts';

/** Says when messages whose deliveries wait in memory are settled: what bounds how many a client takes. */
export class UnsettledMessages {
  /** How many deliveries of the message are left, by the id of each; of messages with several. */
  readonly #left = new ReusableMap<{ deliveries: number }>();
  #listener: (messages: number) => void = () => {};
  #messages = 0;

  onSettled(listener: (messages: number) => void): void {
    this.#listener = listener;
  }

  /** To be called before the deliveries are added: they may be settled before `submit` resolves. */
  routed(messages: readonly RoutedMessage[]): void {
    for (const { deliveries } of messages) {
      if (deliveries.length > 0) this.#messages++;
      if (deliveries.length < 2) continue;
      const left = { deliveries: deliveries.length };
      for (const { id } of deliveries) this.#left.set(id, left);
    }
  }

  see(event: EngineEvent): void {
    if (event.kind !== 'settled') return;
    const { id } = event.delivery;
    const left = this.#left.size === 0 ? undefined : this.#left.get(id);
    if (left !== undefined) this.#left.delete(id);
    if (left === undefined || --left.deliveries === 0) this.#end(1);
  }

  /** The engine is closed: nothing more will be settled, or is kept. */
  abandon(): void {
    this.#end(this.#messages);
  }

  #end(messages: number): void {
    this.#messages -= messages;
    this.#listener(messages);
  }
}
