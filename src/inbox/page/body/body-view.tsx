import type { JSX } from 'preact';
import { useMemo } from 'preact/hooks';
import { BytesView, TextView } from './bytes-view.tsx';
import { exactText } from './decode.ts';
import { parseTree } from './json-tree.ts';
import { TreeView } from './tree-view.tsx';

export type BodyKind = 'tree' | 'text' | 'bytes';

/** Shows a body as a tree, text or bytes. The browser always renders it as text, whatever the content type of the body. */
export function BodyView({
  body,
  kind,
  names,
}: {
  readonly body: Uint8Array;
  readonly kind: BodyKind;
  /** Names of the items of a list in a tree. @default their indexes */
  readonly names?: readonly string[] | undefined;
}): JSX.Element {
  const exact = useMemo(() => exactText(body), [body]);
  const text = useMemo(
    () => exact ?? new TextDecoder('utf-8', { ignoreBOM: true }).decode(body),
    [body, exact],
  );
  const root = useMemo(() => (kind === 'tree' ? parseTree(text) : undefined), [text, kind]);
  if (body.length === 0) return <p class="remark">The body is empty.</p>;
  if (kind === 'bytes') return <BytesView body={body} />;
  if (kind === 'tree' && root !== undefined) return <TreeView key={text} root={root} names={names} />;
  return (
    <>
      {kind === 'tree' && <p class="remark">Shown as text: not JSON, or nested too deeply for a tree.</p>}
      {exact === undefined && (
        <p class="remark warning">
          These bytes are not valid UTF-8: invalid ones appear as �. The Bytes tab is exact.
        </p>
      )}
      <TextView text={text} />
    </>
  );
}
