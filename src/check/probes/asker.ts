import type { Clock } from '../../clock.ts';
import type { CheckResponse } from '../check-response.ts';
import { isTakenResponse } from '../judge-responses.ts';
import type { SuspectModel } from '../mistakes/suspect-model.ts';
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
  /** Number of wrong signatures, each made by a common mistake, that the receiver rejected. */
  readonly tried: number;
  /** Whether the receiver shows a digest that it computed and that no known mistake explains. */
  readonly showsOther: boolean;
}

/** A correct message that failed, with its response. */
export interface FailedMessage {
  readonly request: CheckRequest;
  readonly response: CheckResponse;
}

/** Maximum timeout of another request to a receiver that may not respond. */
export const OTHER_TIMEOUT_MS = 2_000;

/**
 * Sends the requests whose responses are compared with that to a failed message. `forgery`, `unsigned` and `elsewhere`
 * send at most one request each, and keep its response.
 */
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

  /** The response to a forgery whose body is not JSON. */
  unparsable(): Promise<CheckResponse> {
    const { sample, receiver } = this.context;
    return receiver.ask(sample.forged(Buffer.from(this.#forged().body).subarray(0, 60), {}));
  }

  /** The response to a forgery that is sent to a path that should have no route. */
  elsewhere(): Promise<CheckResponse> {
    return (this.#elsewhere ??= this.forgeryAt(siblingOf(this.context.url)));
  }

  forgeryAt(url: string, { isBare = false } = {}): Promise<CheckResponse> {
    return this.context.receiver.ask(this.#forged(), { url, isBare, timeoutMs: OTHER_TIMEOUT_MS });
  }

  /** Whether this message passes the verification: it is accepted, or a forgery of it gets another response. */
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
