import { BUILT_IN_SCHEMES } from './built-in.ts';
import { headerValues, type HeaderList } from './header-list.ts';
import { layoutOf } from './layout.ts';
import type { SignatureScheme } from './scheme.ts';
import { verifyingKeys } from './secrets.ts';

/**
 * The schemes whose signatures came, of those built in and of one's own, which come after them. Those that no secret is for are left out while there
 * are others; so are schemes that protect a part of the body only: they count only when they are named.
 */
export function detectSchemes(
  headers: HeaderList,
  { own, secrets }: { readonly own: readonly SignatureScheme[]; readonly secrets: readonly string[] },
): readonly SignatureScheme[] {
  const taken = new Set<string>();
  const came = [...BUILT_IN_SCHEMES, ...own].filter((scheme) => {
    const { lowerName } = layoutOf(scheme).signatureHeader;
    if (scheme.covers === 'first' || taken.has(lowerName) || headerValues(headers, lowerName).length === 0) {
      return false;
    }
    taken.add(lowerName);
    return true;
  });
  const checkable = came.filter((scheme) => verifyingKeys(scheme, secrets).length > 0);
  return checkable.length === 0 ? came : checkable;
}
