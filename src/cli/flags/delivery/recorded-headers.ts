import { endToEndHeaders, PROXY_HEADER } from '../../../receiver/response/forwarding.ts';
import { MASK, printable } from '../../../redact.ts';
import type { FoundEntry } from '../../../replay/reading/replay-entry.ts';
import { receivedHeaders, type ReceivedHeaders } from '../../../signature/received-headers.ts';
import { detectSchemes } from '../../../signature/schemes/detect-schemes.ts';
import { rawHeaderList } from '../../../signature/schemes/header-list.ts';
import { chosenSchemeNames, type SignatureScheme } from '../../../signature/schemes/scheme.ts';
import { isSignatureHeader } from '../../../signature/signature-headers.ts';
import { destinationsOf, signingSchemes, type WhereTo } from './where-to.ts';

/** Matches the lower-case names of headers that each delivery has with values of its own. */
const DELIVERY_HEADER = /^(?:idempotency-key|traceparent|tracestate)$/;

/**
 * Returns the headers of a capture that --exact sends again: without those of the connection, of proxies and of one
 * delivery, and without masked values. Undefined for an entry that is no capture. `onMasked` gets the name of each masked one.
 */
export function recordedHeaders(
  { request }: FoundEntry,
  onMasked?: (name: string) => void,
): ReceivedHeaders | undefined {
  if (request === undefined) return undefined;
  const sent = endToEndHeaders(request.headers.flat()).filter(([name, value]) => {
    const lower = name.toLowerCase();
    if (DELIVERY_HEADER.test(lower) || PROXY_HEADER.test(lower)) return false;
    if (value === MASK) onMasked?.(name);
    return value !== MASK;
  });
  return receivedHeaders(sent);
}

/** The headers of the captures that --exact sends, by their bodies, and what of the captures is not sent. */
export class RecordedHeaders {
  readonly #byBody = new WeakMap<Uint8Array, ReceivedHeaders>();
  readonly #ownSchemes: readonly SignatureScheme[];
  #captures = 0;
  #signed = 0;
  readonly #masked = new Set<string>();
  readonly #methods = new Set<string>();
  /** Names of the schemes by which captures were signed. */
  readonly #signedBy = new Set<string>();

  /** @param ownSchemes the custom schemes of the config */
  constructor(ownSchemes: readonly SignatureScheme[]) {
    this.#ownSchemes = ownSchemes;
  }

  /** Remembers the headers of a capture until its body is released. */
  add(entry: FoundEntry): void {
    const recorded = recordedHeaders(entry, (name) => this.#masked.add(name));
    if (recorded === undefined) return;
    this.#byBody.set(entry.bytes, recorded);
    this.#captures++;
    if (entry.request?.method !== 'POST') this.#methods.add(entry.request?.method ?? '');
    if (recorded.signature === undefined) return;
    this.#signed++;
    const list = rawHeaderList([...recorded.signed, ...recorded.others]);
    const schemes = detectSchemes(list, { own: this.#ownSchemes, secrets: [] });
    for (const { name } of schemes) this.#signedBy.add(name);
  }

  readonly of = (body: Uint8Array): ReceivedHeaders | undefined => this.#byBody.get(body);

  /** Says whether the recorded signatures are sent, and what of the captures is not. */
  remarks(to: WhereTo): readonly string[] {
    const queued = `queued without its headers: ${countText(this.#captures)}; hooks worker sends those of the config, and application/json`;
    if (to.kind === 'queue') return this.#captures === 0 ? [] : [queued];
    const destinations = 'sources' in to ? destinationsOf(to.sources).filter(({ enabled }) => enabled) : [];
    const signing = destinations.filter(({ sharedSecrets }) => sharedSecrets.length > 0).length;
    const isSigned = to.kind === 'loopback' || signing > 0;
    const own = destinations.flatMap(({ webhooks }) =>
      webhooks.flatMap(({ headers }) => Object.keys(headers)),
    );
    const ownNames = new Set(own.map((name) => name.toLowerCase()));
    const unsent = [...this.#masked].filter(
      (name) => !ownNames.has(name.toLowerCase()) && !(isSigned && isSignatureHeader(name)),
    );
    const chosen = chosenSchemeNames(signingSchemes(to));
    const others = isSigned ? [...this.#signedBy].filter((name) => !chosen.includes(name)) : [];
    return [
      this.#signed > 0 &&
        (to.kind === 'loopback'
          ? `signed again for --loopback: ${countText(this.#signed)}`
          : signatureText(this.#signed, signing, destinations.length)),
      others.length > 0 &&
        `signed again by ${chosen.join(', ')}, but the captures were signed by ${others.join(', ')}: --scheme ${others.join(',')} signs as they were`,
      unsent.length > 0 &&
        `not sent, because it is masked in the captures: ${namesText(unsent)}; --header gives a value`,
      this.#methods.size > 0 &&
        `sent as POST, as every delivery is: the captures have ${namesText([...this.#methods])}`,
    ].filter((remark) => remark !== false);
  }
}

/** Says whether the recorded signatures are sent or replaced. `signing` counts the destinations with a secret. */
function signatureText(count: number, signing: number, destinations: number): string {
  const captures = countText(count);
  if (signing === 0) return `signature sent as received: ${captures}; --secret signs again`;
  if (signing === destinations) {
    return `signed again with the secret: ${captures}; without a secret, the signature is sent as received`;
  }
  return `signed again for destinations with a secret, sent as received to the others: ${captures}`;
}

function countText(captures: number): string {
  return captures === 1 ? '1 capture' : `${captures} captures`;
}

function namesText(names: readonly string[]): string {
  return printable(names.join(', '), 200);
}
