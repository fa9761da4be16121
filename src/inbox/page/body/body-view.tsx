import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { BytesView, TextView } from './bytes-view.tsx';
import { parseTree } from './json-tree.ts';
import { TreeView } from './tree-view.tsx';

export type BodyKind = 'tree' | 'text' | 'bytes';

/** A body in one of three ways. It is text to the browser, whatever it says that it is. */
export function BodyView({
  body,
  kind,
  names,
}: {
  readonly body: Uint8Array;
  readonly kind: BodyKind;
  /** Of the items of a list, in a tree. @default their indexes */
  readonly names?: readonly string[] | undefined;
}): JSX.Element {
  const { text, isUtf8 } = useMemo(() => decoded(body), [body]);
  const root = useMemo(() => (kind === 'tree' ? parseTree(text) : undefined), [text, kind]);
  if (body.length === 0) return <p class="remark">The body is empty.</p>;
  if (kind === 'bytes') return <BytesView body={body} />;
  if (kind === 'tree' && root !== undefined) return <TreeView key={text} root={root} names={names} />;
  return (
    <>
      {kind === 'tree' && <p class="remark">Shown as text: not JSON, or nested too deeply for a tree.</p>}
      {!isUtf8 && (
        <p class="remark warning">
          These bytes are not valid UTF-8: invalid ones appear as �. The Bytes tab is exact.
        </p>
      )}
      <TextView text={text} />
    </>
  );
}

function decoded(body: Uint8Array): { readonly text: string; readonly isUtf8: boolean } {
  try {
    return { text: new TextDecoder('utf-8', { fatal: true, ignoreBOM: true }).decode(body), isUtf8: true };
  } catch {
    return { text: new TextDecoder('utf-8', { ignoreBOM: true }).decode(body), isUtf8: false };
  }
}
