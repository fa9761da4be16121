import type { FoundEntry } from '../../../replay/reading/replay-entry.ts';
import { receivedSignature } from '../../../signature/received-signature.ts';
import type { SignedHeaders } from '../../../signature/schemes/signer.ts';
import { destinationsOf, type WhereTo } from './where-to.ts';

/** The signatures of the captures that --exact sends. The engine uses them for destinations without a secret. */
export class RecordedSignatures {
  readonly #byBody = new WeakMap<Uint8Array, SignedHeaders>();
  #signed = 0;

  /** Remembers the signature of a capture until its body is released. */
  add({ bytes, headers = [] }: FoundEntry): void {
    const received = receivedSignature(headers);
    if (received === undefined) return;
    this.#byBody.set(bytes, received);
    this.#signed++;
  }

  readonly of = (body: Uint8Array): SignedHeaders | undefined => this.#byBody.get(body);

  /** Says whether the recorded signatures were sent or replaced. Undefined if no capture had one. */
  remark(to: WhereTo): string | undefined {
    if (this.#signed === 0) return undefined;
    const captures = this.#signed === 1 ? '1 capture' : `${this.#signed} captures`;
    if (to.kind === 'loopback') return `signed again for --loopback: ${captures}`;
    if (to.kind === 'queue') return `not queued with its signature: ${captures}; hooks worker signs again`;
    const destinations = 'sources' in to ? destinationsOf(to.sources).filter(({ enabled }) => enabled) : [];
    const signing = destinations.filter(({ sharedSecrets }) => sharedSecrets.length > 0).length;
    if (signing === 0) return `signature sent as received: ${captures}; --secret signs again`;
    if (signing === destinations.length) {
      return `signed again with the secret: ${captures}; without a secret, the signature is sent as received`;
    }
    return `signed again for destinations with a secret, sent as received to the others: ${captures}`;
  }
}
