import {
  undiagnosed,
  type Diagnosis,
  type MismatchEvidence,
  type NoEvidence,
} from '../signature/evidence.ts';
import { missingSignatureFix, overLossyBody, REASONS } from '../signature/reasons.ts';
import { schemeListText, signatureHeaderNames } from '../signature/schemes/layout.ts';
import { diagnose } from './signature/diagnose.ts';
import { explainScheme } from './signature/explain-scheme.ts';
import { frameVariants } from './signature/frame-variants.ts';

/** Finds out why a signature does not match. */
export function explainMismatch(mismatch: MismatchEvidence): Diagnosis {
  switch (mismatch.kind) {
    case 'none':
      return explainNone(mismatch);
    case 'lossy': {
      const why = `it would match ${overLossyBody(mismatch.loss)}`;
      return { ...undiagnosed(mismatch.bytes, { why, fix: REASONS['lossy-json'].fix }), code: 'lossy-json' };
    }
    case 'lenient': {
      const { kind: _kind, scheme, headers, deadline, ...evidence } = mismatch;
      const frames = frameVariants(scheme, headers, evidence.body);
      return diagnose({ ...evidence, frames }, deadline);
    }
    case 'scheme':
      return explainScheme(mismatch);
    default:
      return mismatch satisfies never;
  }
}

function explainNone({ bytes, schemes }: NoEvidence): Diagnosis {
  const names = signatureHeaderNames(schemes);
  const found = undiagnosed(bytes, {
    why: `no signature of a scheme that is accepted came (${names})`,
    fix: missingSignatureFix(names, schemeListText(schemes)),
  });
  return { ...found, code: 'no-signature' };
}
