import { BUILT_IN_SCHEMES } from './built-in.ts';
import { hasHeader, headerValues, type HeaderList } from './header-list.ts';
import { layoutOf, type HeaderLayout } from './layout.ts';
import type { SignatureScheme } from './scheme.ts';
import { verifyingKeys } from './secrets.ts';

/**
 * Detects the schemes, built-in and custom, whose signature headers a request has. Of two schemes with the same header, the
 * custom one wins only if a prefix or other headers distinguish it. Schemes without a usable secret are returned only if
 * there are no others. Schemes that protect only a part of the body are never detected: users must name them.
 */
export function detectSchemes(
  headers: HeaderList,
  { own, secrets }: { readonly own: readonly SignatureScheme[]; readonly secrets: readonly string[] },
): readonly SignatureScheme[] {
  const taken = new Set<string>();
  const distinct = own.filter((scheme) => isDistinguished(scheme, headers));
  const came = [...distinct, ...BUILT_IN_SCHEMES, ...own].filter((scheme) => {
    const { lowerName } = layoutOf(scheme).signatureHeader;
    if (scheme.covers === 'first' || taken.has(lowerName) || !hasHeader(headers, lowerName)) return false;
    taken.add(lowerName);
    return true;
  });
  const checkable = came.filter((scheme) => verifyingKeys(scheme, secrets, came).length > 0);
  return checkable.length === 0 ? came : checkable;
}

/** Whether a scheme has a prefix or several headers, and the request has them all. */
function isDistinguished(scheme: SignatureScheme, headers: HeaderList): boolean {
  const { headers: layouts, signatureHeader } = layoutOf(scheme);
  const prefix = signatureHeader.parts[0]?.text ?? '';
  const values = headerValues(headers, signatureHeader.lowerName);
  return (
    (prefix !== '' || layouts.length > 1) &&
    values.some((value) => value.trimStart().startsWith(prefix)) &&
    layouts.every(({ lowerName }) => hasHeader(headers, lowerName))
  );
}

/**
 * Describes a signature that may have been removed: the request has another header of a scheme, but not the scheme's
 * signature. Undefined if no signature is missing. Needed only if schemes are detected: a scheme that the user named fails
 * without its signature.
 */
export function missingSignature(headers: HeaderList, own: readonly SignatureScheme[]): string | undefined {
  const isGiven = ({ lowerName }: HeaderLayout): boolean => hasHeader(headers, lowerName);
  for (const scheme of [...BUILT_IN_SCHEMES, ...own]) {
    const { headers: layouts, signatureHeader } = layoutOf(scheme);
    const came = isGiven(signatureHeader) ? undefined : layouts.find(isGiven);
    if (came === undefined) continue;
    return `${came.name} came without ${signatureHeader.name}, which may have been removed: --scheme ${scheme.name} wants it`;
  }
  return undefined;
}
