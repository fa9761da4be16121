import type { IncomingMessage, ServerResponse } from 'node:http';
import { roundedMs, type Clock } from '../../clock.ts';
import { pairsOf, relayedResponse, type Forward, type Forwarded } from './forwarding.ts';
import { HeldResponses } from './held-responses.ts';
import type { RequestInFlight } from '../connection/requests-in-flight.ts';
import type { ReceiverLimits, ReceiverOptions } from '../options.ts';
import type { ResponseKind, SentResponse, SignatureJudgement } from '../received-request.ts';
import { findSchemes } from '../../signature/schemes/find-schemes.ts';
import { signatureHeaderNames } from '../../signature/schemes/layout.ts';
import { rejectionBody } from '../../service/request/rejection.ts';
import type { TrackingCall } from '../messages/tracking-call.ts';
import { playScript, type Script, type ScriptedResponse, type TimedResponse } from './script.ts';
import { sendResponse, sendSlowResponse, sentResponse } from './send-response.ts';

/** A request with its complete body, and its pending response. */
export interface ReceivedExchange {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly at: number;
  readonly body: Uint8Array;
  readonly judgement: SignatureJudgement;
  readonly open: RequestInFlight;
  readonly forwarded?: Forwarded;
  /** The request read as a call of a tracking API. Undefined if it is a webhook or another request. */
  readonly call: TrackingCall | undefined;
}

interface ResponderContext {
  readonly options: ReceiverOptions;
  readonly limits: ReceiverLimits;
  readonly clock: Clock;
  /** Ends the connection that the request came over with a TCP reset. */
  readonly reset: (request: IncomingMessage) => void;
}

/** Reports each request and responds to it: with the script, the response of `forward`, or a rejection. */
export class Responder {
  readonly #context: ResponderContext;
  #script: Script | undefined;
  #nextResponse: () => ScriptedResponse;
  readonly #held = new HeldResponses();

  constructor(context: ResponderContext) {
    this.#context = context;
    this.#script = context.options.script;
    this.#nextResponse = playScript(this.#script ?? []);
  }

  /** Replaces the script, and begins with its first response. Undefined to respond without a script. */
  respondBy(script: Script | undefined): void {
    this.#script = script;
    this.#nextResponse = playScript(script ?? []);
  }

  respond(exchange: ReceivedExchange): void {
    const { requireSignature, forward } = this.#context.options;
    const { verdict } = exchange.judgement;
    // Pages of any origin may read the response to a call, because a tracking API allows it too.
    if (exchange.call !== undefined) exchange.response.setHeader('access-control-allow-origin', '*');
    if (exchange.request.method !== 'POST') {
      this.#send(exchange, 405, 'method not allowed, use POST\n', ['allow', 'POST']);
    } else if (requireSignature === true && verdict !== 'valid') {
      const problem = verdict === 'invalid' ? 'does not match' : 'is missing';
      const { scheme } = this.#context.options;
      const text =
        scheme === undefined
          ? `the X-Signature header ${problem}`
          : `the signature ${problem} (${signatureHeaderNames(findSchemes(scheme, { key: 'scheme' }), 'or')})`;
      this.#send(exchange, 401, `${text}\n`);
    } else if (forward === undefined) {
      const isScripted = this.#script !== undefined && this.#script.length > 0;
      if (exchange.call !== undefined && !isScripted) this.#respondToCall(exchange, exchange.call);
      else this.#play(exchange, this.#nextResponse());
    } else {
      this.#forward(exchange, forward);
    }
  }

  /** Drops the held responses without sending them, and reports their requests. */
  close(): void {
    this.#held.release();
  }

  /** Forwards a request, then responds with the script or, without a script, with the response of the other receiver. */
  #forward(exchange: ReceivedExchange, forward: Forward): void {
    const { request, response, body } = exchange;
    const left = new AbortController();
    this.#held.hold(response, {
      until: (release) => {
        const forwarding = forward({ rawHeaders: request.rawHeaders, body }, left.signal);
        void forwarding.then((forwarded) =>
          release(() => this.#respondForwarded({ ...exchange, forwarded })),
        );
        return () => left.abort();
      },
      onLeft: () => this.#report(exchange, 'nothing'),
    });
  }

  #respondForwarded(exchange: ReceivedExchange & { readonly forwarded: Forwarded }): void {
    if (this.#script !== undefined) return this.#play(exchange, this.#nextResponse());
    const { status, text, headers } = relayedResponse(exchange.forwarded);
    this.#send(exchange, status, text, headers);
  }

  /** Responds to a call with the status and body that `hooks serve` would send. */
  #respondToCall(exchange: ReceivedExchange, { rejection }: TrackingCall): void {
    const body = rejection === undefined ? { success: true } : rejectionBody(rejection);
    exchange.response.setHeader('content-type', 'application/json');
    this.#send(exchange, rejection?.status ?? 200, JSON.stringify(body));
  }

  #play(exchange: ReceivedExchange, scripted: ScriptedResponse): void {
    const { response } = exchange;
    if (scripted.kind === 'timeout') {
      this.#held.hold(response, { onLeft: () => this.#report(exchange, 'timeout') });
    } else if (scripted.delayMs > 0) {
      this.#held.hold(response, {
        until: (release) =>
          this.#context.clock.after(scripted.delayMs, () => release(() => this.#playNow(exchange, scripted))),
        onLeft: () => this.#report(exchange, 'nothing'),
      });
    } else {
      this.#playNow(exchange, scripted);
    }
  }

  #playNow(exchange: ReceivedExchange, scripted: TimedResponse): void {
    switch (scripted.kind) {
      case 'status':
        this.#send(exchange, scripted.status, '', scripted.headers);
        break;
      case 'slow-body':
        this.#report(exchange, 'slow-body', {
          status: scripted.status,
          response: { headers: pairsOf(scripted.headers), body: '' },
        });
        this.#whenDrained(exchange, () => this.#drip(exchange.response, scripted));
        break;
      case 'reset':
        this.#report(exchange, 'reset');
        this.#whenDrained(exchange, () => this.#context.reset(exchange.request));
        break;
      default:
        scripted satisfies never;
    }
  }

  #drip(response: ServerResponse, scripted: Exclude<TimedResponse, { kind: 'reset' }>): void {
    const { clock, limits } = this.#context;
    const times = { clock, dripMs: limits.dripMs };
    this.#held.hold(response, { until: () => sendSlowResponse(response, scripted, times), onLeft: () => {} });
  }

  #send(exchange: ReceivedExchange, status: number, text: string, headers?: readonly string[]): void {
    const response = sentResponse(exchange.response, { status, text, headers });
    this.#report(exchange, 'status', { status, response });
    this.#whenDrained(exchange, () => sendResponse(exchange.response, status, text, headers));
  }

  #whenDrained({ response }: ReceivedExchange, respond: () => void): void {
    this.#held.holdUntil(response, this.#context.options.drained?.(), respond);
  }

  #report(
    exchange: ReceivedExchange,
    kind: ResponseKind,
    sent?: { readonly status: number; readonly response: SentResponse },
  ): void {
    const { request, at, body, judgement, open, forwarded, call } = exchange;
    const { options, clock } = this.#context;
    // Requests of a server always have method and URL; the type also covers client responses.
    const { method = '', url: path = '', rawHeaders } = request;
    const ms = roundedMs(clock.now() - at);
    const problem = method === 'POST' ? options.check?.(body) : undefined;
    options.onRequest({
      at,
      method,
      path,
      rawHeaders,
      body,
      ...judgement,
      answered: kind,
      status: sent?.status,
      ms,
      ...(sent !== undefined && { response: sent.response }),
      ...(problem !== undefined && { problem }),
      ...(call !== undefined && { call }),
      ...(forwarded !== undefined && { forwarded }),
    });
    open.end();
  }
}
