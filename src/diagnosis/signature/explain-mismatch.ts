import type { HeaderList } from '../../signature/schemes/header-list.ts';
import { schemeListText, signatureHeaderNames } from '../../signature/schemes/layout.ts';
import type { SignatureScheme } from '../../signature/schemes/scheme.ts';
import type { LossyMatch } from './body/kept-body.ts';
import { diagnose, undiagnosed, type Diagnosis } from './diagnose.ts';
import { explainScheme, type SchemeEvidence } from './explain-scheme.ts';
import type { Evidence, ExplainContext } from './find-mistake.ts';
import { frameVariants } from './frame-variants.ts';
import { missingSignatureFix, overLossyBody, REASONS } from './reasons.ts';

/** What a diagnosis looks at: no signature came, it matches a body that loses something, it does not match by the lenient rules, or not by its scheme. */
export type MismatchEvidence = NoEvidence | LossyMatch | LenientEvidence | SchemeEvidence;

interface NoEvidence {
  readonly kind: 'none';
  readonly bytes: number;
  /** Those that are accepted. */
  readonly schemes: readonly SignatureScheme[];
}

export interface LenientEvidence extends Omit<Evidence, 'frames'>, ExplainContext {
  readonly kind: 'lenient';
  readonly scheme: SignatureScheme;
  readonly headers: HeaderList;
}

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
      const { scheme, headers, deadline, ...evidence } = mismatch;
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
