import { ConfigError } from '../errors.ts';
import { isLoopbackHost } from '../url.ts';
import { pairsOf, type Forwarded, type ForwardRequest } from '../receiver/response/forwarding.ts';
import { detectSchemes } from '../signature/schemes/detect-schemes.ts';
import { rawHeaderList } from '../signature/schemes/header-list.ts';
import type { SignatureScheme } from '../signature/schemes/scheme.ts';
import { signRequest } from '../signature/schemes/signer.ts';
import { createForwarding, type Forwarding } from './forwarding.ts';

interface ReplayingOptions {
  readonly url: string | undefined;
  readonly forwarding: Forwarding | undefined;
  /** Secrets to mask in the response of the receiver, because that response is shown. */
  readonly secrets: readonly string[];
}

/**
 * Sends a received request again, to the URL of the forwarding or to a URL on this machine. Throws ConfigError for any
 * other URL, so that a stranger who opens the inbox cannot use it to reach the network.
 */
export async function replayReceived(
  request: ForwardRequest,
  { url, forwarding, secrets }: ReplayingOptions,
): Promise<Forwarded> {
  const never = new AbortController().signal;
  if (forwarding !== undefined && (url === undefined || url === forwarding.shownUrl)) {
    return forwarding.forward(request, never);
  }
  const target = createForwarding({ url: loopbackUrl(url), origin: 'url', secrets, onlyLoopback: true });
  try {
    return await target.forward(request, never);
  } finally {
    await target.close();
  }
}

interface SigningOptions {
  readonly secrets: readonly string[];
  /** Signature schemes to sign with. @default the schemes of the request's signatures, else the default scheme */
  readonly schemes: readonly SignatureScheme[] | undefined;
}

/** Replaces the signatures of a request by new ones. Throws ConfigError if no secret fits the scheme. */
export function signedAgain(
  { rawHeaders, body }: ForwardRequest,
  { secrets, schemes }: SigningOptions,
): ForwardRequest {
  const detected = schemes ?? detectSchemes(rawHeaderList(rawHeaders), { own: [], secrets });
  const scheme = detected.length === 0 ? undefined : detected;
  const signatures = Object.entries(signRequest({ body, secrets, scheme }));
  const signed = new Set(signatures.map(([name]) => name.toLowerCase()));
  const others = pairsOf(rawHeaders).filter(([name]) => !signed.has(name.toLowerCase()));
  return { rawHeaders: [...others, ...signatures].flat(), body };
}

function loopbackUrl(url = ''): string {
  if (url === '') {
    throw new ConfigError('Expected a URL to replay the request to, got none', {
      key: 'url',
      hint: 'name a receiver on this machine, such as http://localhost:3000/webhook',
    });
  }
  // A URL that cannot be parsed is returned unchanged, because createForwarding rejects it with a better error.
  if (!URL.canParse(url) || isLoopbackHost(new URL(url).hostname)) return url;
  throw new ConfigError('Expected a URL on this machine, such as http://localhost:3000/webhook', {
    key: 'url',
    hint: 'start `hooks listen` with --forward URL to replay to another machine',
  });
}
