import { BUILT_IN_SCHEMES } from '../../signature/schemes/built-in.ts';
import { DEFAULT_SCHEMES } from '../../signature/schemes/find-schemes.ts';
import { schemeListText, signatureHeaderNames } from '../../signature/schemes/layout.ts';
import type { SignatureScheme } from '../../signature/schemes/scheme.ts';
import { verifyingKeys } from '../../signature/schemes/secrets.ts';
import { signedFields, Signer } from '../../signature/schemes/signer.ts';
import type { MistakenRequest, MistakeOptions, ReceiverMistake } from '../../check/check.ts';
import { commonMistakes } from './common-mistakes.ts';

/** Yields a request for each common mistake, signed as a receiver with that mistake expects it. */
export function* requestsOfMistakes(
  body: Buffer,
  { secrets, signer, runId, url }: MistakeOptions,
): Generator<MistakenRequest> {
  const schemes = signer?.schemes ?? DEFAULT_SCHEMES;
  // Number of ids made so far. Each scheme has its own id, because a receiver may remember ids.
  let made = 0;
  const newFields = () => signedFields(`hooks-test-${runId}-mistake-${++made}`, Date.now());
  for (const other of BUILT_IN_SCHEMES) {
    const isUsable = other.covers !== 'first' && verifyingKeys(other, secrets).length > 0;
    if (!isUsable || schemes.includes(other)) continue;
    const { headers } = new Signer([other], secrets).sign(body, newFields());
    yield { request: { body, signatureHeaders: headers }, mistake: otherScheme(other, schemes) };
  }
  for (const scheme of schemes) {
    const fields = newFields();
    const others = new Signer(
      schemes.filter((each) => each !== scheme),
      secrets,
    ).sign(body, fields);
    for (const { headers, mistake } of commonMistakes(body, { scheme, secrets, fields, url })) {
      yield { request: { body, signatureHeaders: [...others.headers, ...headers] }, mistake };
    }
  }
}

function otherScheme(scheme: SignatureScheme, wanted: readonly SignatureScheme[]): ReceiverMistake {
  const header = signatureHeaderNames([scheme]);
  return {
    code: 'other-scheme',
    says: `it verifies by the scheme ${scheme.name} (${header}), not by ${schemeListText(wanted)}: it accepts such signatures`,
    fix: `test it with --scheme ${scheme.name}, and let the sender use this scheme, too; or let it verify ${signatureHeaderNames(wanted)}`,
  };
}
