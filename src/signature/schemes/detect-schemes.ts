import { BUILT_IN_SCHEMES } from './built-in.ts';
import { headerValues, type HeaderList } from './header-list.ts';
import { layoutOf, type HeaderLayout } from './layout.ts';
import type { SignatureScheme } from './scheme.ts';
import { verifyingKeys } from './secrets.ts';

/**
 * The schemes whose signatures came, of those built in and of one's own. Where two want the same header, one's own counts only if something besides
 * that header tells it apart. Those that no secret is for are left out while there are others; so are schemes that protect a part of the body only:
 * they count only when they are named.
 */
export function detectSchemes(
  headers: HeaderList,
  { own, secrets }: { readonly own: readonly SignatureScheme[]; readonly secrets: readonly string[] },
): readonly SignatureScheme[] {
  const taken = new Set<string>();
  const distinct = own.filter((scheme) => isToldApart(scheme, headers));
  const came = [...distinct, ...BUILT_IN_SCHEMES, ...own].filter((scheme) => {
    const { lowerName } = layoutOf(scheme).signatureHeader;
    if (scheme.covers === 'first' || taken.has(lowerName) || headerValues(headers, lowerName).length === 0) {
      return false;
    }
    taken.add(lowerName);
    return true;
  });
  const checkable = came.filter((scheme) => verifyingKeys(scheme, secrets, came).length > 0);
  return checkable.length === 0 ? came : checkable;
}

/** Whether the signature has the scheme's prefix, or its other headers came as well. */
function isToldApart(scheme: SignatureScheme, headers: HeaderList): boolean {
  const { headers: layouts, signatureHeader } = layoutOf(scheme);
  const prefix = signatureHeader.parts[0]?.text ?? '';
  const values = headerValues(headers, signatureHeader.lowerName);
  return (
    (prefix !== '' || layouts.length > 1) &&
    values.some((value) => value.trimStart().startsWith(prefix)) &&
    layouts.every(({ lowerName }) => headerValues(headers, lowerName).length > 0)
  );
}

/**
 * What a request lacks that has other headers of a scheme, but not its signature, which may have been removed; undefined when nothing. For a
 * request whose scheme is told by its headers: where the scheme is named, such a request does not verify.
 */
export function missingSignature(headers: HeaderList, own: readonly SignatureScheme[]): string | undefined {
  const cameAny = ({ lowerName }: HeaderLayout): boolean => headerValues(headers, lowerName).length > 0;
  for (const scheme of [...BUILT_IN_SCHEMES, ...own]) {
    const { headers: layouts, signatureHeader } = layoutOf(scheme);
    const [came] = cameAny(signatureHeader) ? [] : layouts.filter(cameAny);
    if (came === undefined) continue;
    return `${came.name} came without ${signatureHeader.name}, which may have been removed: --scheme ${scheme.name} wants it`;
  }
  return undefined;
}
