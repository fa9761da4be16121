import type { Clock } from '../../clock.ts';
import type { CheckResponse } from '../check-response.ts';
import { isTakenResponse } from '../judge-responses.ts';
import type { SuspectModel } from '../mistakes/suspects.ts';
import type { ReceiverUnderTest } from '../receiver-under-test.ts';
import type { CheckRequest, Sample } from '../sample.ts';
import { siblingOf } from './neighbors.ts';

export interface AskerContext {
  readonly receiver: ReceiverUnderTest;
  readonly sample: Sample;
  readonly model: SuspectModel;
  readonly url: string;
  readonly clock: Clock;
  readonly signal: AbortSignal;
  /** Number of wrong signatures of usual mistakes that the receiver rejected. */
  readonly tried: number;
  /** Whether the receiver shows a digest that it computed, which nothing explains. */
  readonly showsOther: boolean;
}

/** A correct message that failed. */
export interface FailedMessage {
  readonly request: CheckRequest;
  readonly response: CheckResponse;
}

/** Time for a receiver that leaves correct messages without a response to respond to another request. */
export const OTHER_TIMEOUT_MS = 2_000;

/** Asks the receiver each question once. */
export class Asker {
  readonly context: AskerContext;
  #unsigned: Promise<CheckResponse> | undefined;
  #elsewhere: Promise<CheckResponse> | undefined;

  constructor(context: AskerContext) {
    this.context = context;
  }

  /** The response to a message with a wrong signature. */
  async forgery(): Promise<CheckResponse> {
    const { model, receiver } = this.context;
    return (model.forgery ??= await receiver.ask(this.#forged(), { timeoutMs: OTHER_TIMEOUT_MS }));
  }

  unsigned(): Promise<CheckResponse> {
    const { body } = this.#forged();
    return (this.#unsigned ??= this.context.receiver.ask({ body }));
  }

  /** The response to a message with half of its signature. */
  short(): Promise<CheckResponse> {
    const { sample, receiver } = this.context;
    const { body } = this.#forged();
    const request = sample.forged(Buffer.from(body), { change: (right) => right.slice(0, right.length / 2) });
    return receiver.ask(request);
  }

  /** The response to a forgery whose body is not JSON. */
  unparsable(): Promise<CheckResponse> {
    const { sample, receiver } = this.context;
    return receiver.ask(sample.forged(Buffer.from(this.#forged().body).subarray(0, 60), {}));
  }

  /** The response to a forgery at a path that has no route. */
  elsewhere(): Promise<CheckResponse> {
    return (this.#elsewhere ??= this.forgeryAt(siblingOf(this.context.url)));
  }

  forgeryAt(url: string): Promise<CheckResponse> {
    return this.context.receiver.ask(this.#forged(), { url, timeoutMs: OTHER_TIMEOUT_MS });
  }

  /** Whether the receiver verifies the right signature of this message: a forgery of it gets another response. */
  async verifies(fields: object): Promise<boolean> {
    const { receiver, sample, model } = this.context;
    const body = Buffer.from(JSON.stringify(fields));
    const response = await receiver.ask(sample.signed(body));
    if (response.kind === 'none' || model.isAsForgery(response)) return false;
    return isTakenResponse(response) || model.isAsForgery(await receiver.ask(sample.forged(body, {})));
  }

  #forged(): CheckRequest {
    const { sample } = this.context;
    return sample.forged(sample.body('track', 'forgery', { event: 'Hooks Test Forgery' }), {});
  }
}
