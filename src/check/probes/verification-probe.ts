import type { Clock } from '../../clock.ts';
import { BUILT_IN_SCHEMES, SEGMENT } from '../../signature/schemes/built-in.ts';
import { DEFAULT_SCHEMES } from '../../signature/schemes/find-schemes.ts';
import { layoutOf, signatureHeaderNames } from '../../signature/schemes/layout.ts';
import type { CheckResponse } from '../check-response.ts';
import type { MistakenRequest, MistakeOptions, ReceiverMistake, ShownTexts, ShownDigest } from '../check.ts';
import { isTakenResponse } from '../judge-responses.ts';
import type { SuspectModel } from '../mistakes/suspect-model.ts';
import type { ReceiverUnderTest } from '../receiver-under-test.ts';
import { otherDigit, type CheckRequest } from '../sample.ts';

export interface VerificationProbeOptions extends MistakeOptions {
  readonly clock: Clock;
  /**
   * Makes requests with wrong signatures, each made by a common mistake. If a receiver rejects the correct signature,
   * the wrong one that it accepts reveals its mistake.
   */
  readonly mistakenRequests: (body: Buffer, options: MistakeOptions) => Promise<Iterable<MistakenRequest>>;
  /** Explains the digest that a receiver computed and shows in its response or output. Undefined if it shows none. */
  readonly explainShown: (texts: ShownTexts) => Promise<ShownDigest | undefined>;
}

const PROBING_MS = 20_000;

/** Maximum number of repetitions of a rejected request, to reach other instances behind a load balancer. */
const REPETITIONS = 4;
const INCONSISTENT: ReceiverMistake = {
  code: 'inconsistent',
  says: 'it accepts a message that differs from a rejected one only in its id: its instances behind a load balancer do not have the same secret or version, or it decides by some digits of the signature',
  fix: 'give every instance the same secret and version, and start them again; compare all digits of the signature, zeros at its start too',
  confidence: 'likely',
};

/**
 * Finds the mistake of a receiver that rejects correct signatures: by the digest that it shows, by inconsistent
 * responses, or by the header or wrong signature that it accepts.
 */
export class VerificationProbe {
  readonly #options: VerificationProbeOptions;
  readonly #receiver: ReceiverUnderTest;
  readonly #model: SuspectModel;
  /** Additional headers that repeat the signature. Empty if they change the receiver's response to a request. */
  #names: readonly string[] = HEADER_NAMES;
  /** Number of wrong signatures that the receiver rejected. */
  tried = 0;
  /** Whether the receiver shows a digest that it computed. If a mistake explains the digest, `find` returns it. */
  showsOther = false;

  constructor(
    options: VerificationProbeOptions,
    { receiver, model }: { readonly receiver: ReceiverUnderTest; readonly model: SuspectModel },
  ) {
    this.#options = options;
    this.#receiver = receiver;
    this.#model = model;
  }

  get seen(): { readonly tried: number; readonly showsOther: boolean } {
    return { tried: this.tried, showsOther: this.showsOther };
  }

  /** Returns the mistake. Undefined if the receiver accepts no wrong signature, or none within PROBING_MS. */
  async find(request: CheckRequest): Promise<ReceiverMistake | undefined> {
    const shown = await this.#shownMistake(request);
    if (shown !== undefined) return shown;
    if (await this.#isInconsistent(request)) return INCONSISTENT;
    const { clock, mistakenRequests } = this.#options;
    const until = clock.now() + PROBING_MS;
    const ofHeader = await this.#ofHeader(request);
    if (ofHeader !== undefined) return ofHeader;
    // A digest of another scheme in the header that is wanted: another hash or encoding explains it more simply.
    let otherScheme: ReceiverMistake | undefined;
    for (const { request: wrong, mistake } of await mistakenRequests(
      Buffer.from(request.body),
      this.#options,
    )) {
      if (clock.now() > until || this.#receiver.over !== undefined) return otherScheme;
      const accepted = await this.#acceptance(inHeaders(wrong, this.#names));
      if (accepted === 'lost') return undefined;
      if (accepted === undefined) {
        this.tried += 1;
        continue;
      }
      const header = await this.#headerOf(wrong);
      const says = `${mistake.says}${header === undefined ? '' : `, in ${header}`}${accepted.later}`;
      const fix = header === undefined ? mistake.fix : `${mistake.fix}; and ${this.#readFix}`;
      const found: ReceiverMistake = { ...mistake, says, fix, confidence: 'proved' };
      if (mistake.code !== 'other-scheme' || !this.#isWanted(header)) return found;
      otherScheme ??= found;
    }
    return otherScheme;
  }

  /** Sends the request again, and returns the mistake that explains the digest in the response or output, if any. */
  async #shownMistake(request: CheckRequest): Promise<ReceiverMistake | undefined> {
    const { signer, secrets, explainShown } = this.#options;
    this.#receiver.forgetOutput();
    const response = await this.#receiver.ask(request);
    if (response.kind === 'none' || isTakenResponse(response)) return undefined;
    const shown = `${response.reply ?? ''}\n${await this.#receiver.output()}`;
    const sent = { body: request.body, headers: headersOf(request) };
    const found = await explainShown({
      shown,
      request: sent,
      schemes: signer?.schemes ?? DEFAULT_SCHEMES,
      secrets,
    });
    this.showsOther = found !== undefined;
    return found?.mistake;
  }

  /** Whether the receiver accepts a message that differs from a rejected one only in its id. */
  async #isInconsistent(request: CheckRequest): Promise<boolean> {
    for (let tries = 0; tries < REPETITIONS; tries++) {
      if (isTakenResponse(await this.#receiver.ask(request))) return true;
    }
    return false;
  }

  /**
   * The mistake of reading another header, if the receiver accepts the right signature there. Otherwise clears `#names`
   * if the additional headers change the response.
   */
  async #ofHeader(request: CheckRequest): Promise<ReceiverMistake | undefined> {
    const everywhere = inHeaders(request, this.#names);
    const accepted = await this.#acceptance(everywhere);
    if (accepted === 'lost' || accepted === undefined) {
      const isAsForgery = this.#model.isAsForgery(await this.#receiver.ask(everywhere));
      if (!isAsForgery) this.#names = [];
      return undefined;
    }
    const header = await this.#headerOf(request);
    const says = `it reads the signature from ${header}, not from ${this.#wanted}: it accepts the right signature there${accepted.later}`;
    return header === undefined
      ? undefined
      : { code: 'other-header', says, fix: this.#readFix, confidence: 'proved' };
  }

  get #wanted(): string {
    return signatureHeaderNames(this.#options.signer?.schemes ?? DEFAULT_SCHEMES);
  }

  #isWanted(header: string | undefined): boolean {
    const schemes = this.#options.signer?.schemes ?? DEFAULT_SCHEMES;
    return schemes.some((scheme) => layoutOf(scheme).signatureHeader.name === header);
  }

  get #readFix(): string {
    const [scheme = SEGMENT] = this.#options.signer?.schemes ?? [];
    const { name, lowerName } = layoutOf(scheme).signatureHeader;
    return `read the header ${name} (Node: request.headers['${lowerName}'], in lower case; PHP: $_SERVER['HTTP_${name.toUpperCase().replaceAll('-', '_')}'])`;
  }

  /** The additional header in which the receiver accepts this signature. Undefined if it needs none of them. */
  async #headerOf(request: CheckRequest): Promise<string | undefined> {
    const isAccepted = async (names: readonly string[]): Promise<boolean> =>
      typeof (await this.#acceptance(inHeaders(request, names))) === 'object';
    if (this.#names.length === 0 || (await isAccepted([]))) return undefined;
    let names = this.#names;
    while (names.length > 1) {
      const half = names.slice(0, Math.ceil(names.length / 2));
      names = (await isAccepted(half)) ? half : names.slice(half.length);
    }
    return names[0];
  }

  /**
   * Sends a request and returns whether its signature passes the verification. If so, `later` is empty, or names the
   * response of a later step that fails. `lost`: no response. Undefined if the receiver rejects the signature.
   */
  async #acceptance(request: CheckRequest): Promise<{ readonly later: string } | 'lost' | undefined> {
    const response = await this.#receiver.ask(request);
    if (response.kind === 'none') return 'lost';
    const isTaken = response.kind === 'taken';
    if (isTaken && this.#model.forgery?.kind === 'rejected') return { later: '' };
    if (!(await this.#isVerified(request, response))) return undefined;
    return { later: isTaken ? '' : `; a step after this check fails with ${response.status}` };
  }

  /**
   * Whether the signature of a request passed the verification, and something else failed. The request must get another
   * response than a forgery, twice, and the same request with a changed digest must get the response of a forgery. This
   * rules out rate limits and limits on the form of headers.
   */
  async #isVerified(request: CheckRequest, response: CheckResponse): Promise<boolean> {
    const isOther = (each: CheckResponse) =>
      /rejected|failing|taken/.test(each.kind) && !this.#model.isAsForgery(each);
    if (!isOther(response)) return false;
    const changed = headersOf(request).map((text, index) =>
      index % 2 === 0 ? text : text.replace(DIGEST, otherDigit),
    );
    const forged = { ...request, signatureHeaders: changed };
    if (!this.#model.isAsForgery(await this.#receiver.ask(forged))) return false;
    return isOther(await this.#receiver.ask(request));
  }
}

const DIGEST = /[\w+/-]{20,}=*$/;

const OWNERS = ['', 'Hub-', 'Webhook-', 'Hook-', 'Hooks-', 'Segment-', 'Request-', 'Body-', 'Payload-'];
/**
 * Headers in which receivers look for a signature. The list fits servers that limit a request to 100 headers or to 8 KB
 * of headers.
 */
const HEADER_NAMES: readonly string[] = [
  ...new Set([
    ...BUILT_IN_SCHEMES.map((scheme) => layoutOf(scheme).signatureHeader.name),
    ...OWNERS.flatMap((owner) => [
      `X-${owner}Signature`,
      `${owner}Signature`,
      `X-${owner}Signature-256`,
      `X-${owner}Signature-SHA1`,
      `X-${owner}HMAC`,
    ]),
    'X_Signature',
    'X-Hub-Signature-SHA256',
    'X-Signature-SHA256',
    'X-HMAC-SHA1',
    'X-HMAC-SHA256',
    'X-HMAC-Signature',
    'X-Sign',
    'X-Digest',
  ]),
];

function headersOf({ signature, signatureHeaders }: CheckRequest): readonly string[] {
  return signatureHeaders ?? (signature === undefined ? [] : ['X-Signature', signature]);
}

/** Returns the request with its signature repeated in other headers. Does not change headers that it has. */
function inHeaders(request: CheckRequest, names: readonly string[]): CheckRequest {
  const own = headersOf(request);
  const value = own.findLast((text, index) => index % 2 === 1 && DIGEST.test(text));
  if (value === undefined || names.length === 0) return request;
  const taken = own.filter((_, index) => index % 2 === 0).map((name) => name.toLowerCase());
  const others = names.filter((name) => !taken.includes(name.toLowerCase()));
  return { ...request, signatureHeaders: [...own, ...others.flatMap((name) => [name, value])] };
}
