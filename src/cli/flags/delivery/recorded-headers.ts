import { endToEndHeaders, PROXY_HEADER } from '../../../receiver/response/forwarding.ts';
import { MASK, printable } from '../../../redact.ts';
import type { FoundEntry } from '../../../replay/reading/replay-entry.ts';
import { receivedHeaders, type ReceivedHeaders } from '../../../signature/received-headers.ts';
import { detectSchemes } from '../../../signature/schemes/detect-schemes.ts';
import { rawHeaderList } from '../../../signature/schemes/header-list.ts';
import { chosenSchemeNames, type SignatureScheme } from '../../../signature/schemes/scheme.ts';
import { destinationsOf, signingSchemes, signingSecrets, type WhereTo } from './where-to.ts';

/** Matches the lower-case names of headers whose values belong to a single delivery. */
const DELIVERY_HEADER = /^(?:idempotency-key|traceparent|tracestate)$/;

/**
 * Returns the headers of a capture that --exact sends again: all except those of the connection, of proxies and of a
 * single delivery, and those with masked values. Undefined for an entry without a captured request.
 */
export function recordedHeaders({ request }: FoundEntry): ReceivedHeaders | undefined {
  const sent = endToEndHeaders(request?.headers.flat() ?? []).filter(([name, value]) => {
    const lower = name.toLowerCase();
    return value !== MASK && !DELIVERY_HEADER.test(lower) && !PROXY_HEADER.test(lower);
  });
  return request && receivedHeaders(sent);
}

/** Keeps the headers of the captures that --exact sends, by their bodies, and notes what is not sent as received. */
export class RecordedHeaders {
  readonly #byBody = new WeakMap<Uint8Array, ReceivedHeaders>();
  readonly #own: readonly SignatureScheme[];
  #captures = 0;
  #signed = 0;
  readonly #masked = new Set<string>();
  readonly #methods = new Set<string>();
  /** Names of the schemes by which captures were signed. */
  readonly #signedBy = new Set<string>();

  /** @param own the custom schemes of the config */
  constructor(own: readonly SignatureScheme[]) {
    this.#own = own;
  }

  /** Remembers the headers of a capture until its body is released. */
  add(entry: FoundEntry): void {
    const { bytes, request } = entry;
    const recorded = recordedHeaders(entry);
    if (request === undefined || recorded === undefined) return;
    this.#byBody.set(bytes, recorded);
    this.#captures++;
    if (request.method !== 'POST') this.#methods.add(request.method);
    for (const [name, value] of request.headers) if (value === MASK) this.#masked.add(name);
    if (recorded.signature === undefined) return;
    this.#signed++;
    const schemes = detectSchemes(rawHeaderList(request.headers.flat()), { own: this.#own, secrets: [] });
    for (const { name } of schemes) this.#signedBy.add(name);
  }

  readonly of = (body: Uint8Array): ReceivedHeaders | undefined => this.#byBody.get(body);

  /** Returns remarks for the user: what of the captures is not sent as received, and what happens to their signatures. */
  remarks(to: WhereTo): readonly (string | undefined)[] {
    if (this.#captures === 0) return [];
    if (to.kind === 'queue') {
      return [
        'captures queued without their headers; hooks worker sends those of the config, and application/json',
      ];
    }
    const isSigned = to.kind === 'loopback' || signingSecrets(to).length > 0;
    const chosen = chosenSchemeNames(signingSchemes(to));
    const others = [...this.#signedBy].filter((name) => isSigned && !chosen.includes(name)).join(',');
    const [masked, methods] = [this.#masked, this.#methods].map((all) => printable([...all].join(', '), 200));
    return [
      this.#signatureRemark(to),
      others && `signed by ${chosen.join(', ')}, but the captures by ${others}: add --scheme ${others}`,
      masked && `masked in the captures, so sent only if --header or the config gives it: ${masked}`,
      methods && `sent as POST, as every delivery is: the captures have ${methods}`,
    ];
  }

  /** Says whether the recorded signatures are sent or replaced. Undefined if no capture had one. */
  #signatureRemark(to: WhereTo): string | undefined {
    if (this.#signed === 0) return undefined;
    const captures = this.#signed === 1 ? '1 capture' : `${this.#signed} captures`;
    if (to.kind === 'loopback') return `signed again for --loopback: ${captures}`;
    const destinations = 'sources' in to ? destinationsOf(to.sources).filter(({ enabled }) => enabled) : [];
    const signing = destinations.filter(({ sharedSecrets }) => sharedSecrets.length > 0).length;
    if (signing === 0) return `signature sent as received: ${captures}; --secret signs again`;
    if (signing === destinations.length) {
      return `signed again with the secret: ${captures}; without a secret, the signature is sent as received`;
    }
    return `signed again for destinations with a secret, sent as received to the others: ${captures}`;
  }
}
