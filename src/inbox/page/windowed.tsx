import type { ComponentChildren, HTMLAttributes, JSX, RefObject } from 'preact';
import { useLayoutEffect, useRef, useState } from 'preact/hooks';

interface WindowedProps {
  readonly count: number;
  readonly rowHeight: number;
  /** Renders the row at an index. All rows have the same height. */
  readonly row: (index: number) => ComponentChildren;
  /** The active row, scrolled into view when its key changes. */
  readonly active?: { readonly index: number; readonly key: number | string } | undefined;
  /** Number of rows added on top since the last render: the scroll position moves along, so that the visible rows stay. */
  readonly grownOnTop?: number;
  readonly onWidth?: (width: number) => void;
  /** Attributes of the scrolling element. */
  readonly attributes: HTMLAttributes<HTMLDivElement>;
}

/** Extra rows to render above and below, so that scrolling shows no gaps. */
const SPARE = 8;

/** Shows a list of any length. Renders only the visible rows and some around them. */
export function Windowed(props: WindowedProps): JSX.Element {
  const { count, rowHeight, row, active, grownOnTop = 0, onWidth, attributes } = props;
  const ref = useRef<HTMLDivElement>(null);
  const [view, setView] = useState({ top: 0, height: 800 });
  useSize(ref, ({ height, width }) => {
    setView((now) => ({ ...now, height }));
    onWidth?.(width);
  });
  useLayoutEffect(() => {
    const element = ref.current;
    if (element !== null && grownOnTop > 0 && element.scrollTop > 0) {
      element.scrollTop += grownOnTop * rowHeight;
    }
  }, [count, grownOnTop, rowHeight]);
  useLayoutEffect(() => {
    if (ref.current !== null && active !== undefined) reveal(ref.current, active.index, rowHeight);
  }, [active?.key, rowHeight]);
  const first = Math.max(0, Math.floor(view.top / rowHeight) - SPARE);
  const last = Math.min(count, Math.ceil((view.top + view.height) / rowHeight) + SPARE);
  const indices = Array.from({ length: Math.max(0, last - first) }, (_, offset) => first + offset);
  return (
    <div
      ref={ref}
      {...attributes}
      onScroll={({ currentTarget: { scrollTop } }) => setView((now) => ({ ...now, top: scrollTop }))}
    >
      <div role="presentation" class="windowed" style={{ height: `${count * rowHeight}px` }}>
        <div role="presentation" style={{ transform: `translateY(${first * rowHeight}px)` }}>
          {indices.map(row)}
        </div>
      </div>
    </div>
  );
}

function useSize(
  ref: RefObject<HTMLDivElement | null>,
  onSize: (size: { readonly height: number; readonly width: number }) => void,
): void {
  useLayoutEffect(() => {
    const element = ref.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() =>
      onSize({ height: element.clientHeight, width: element.clientWidth }),
    );
    observer.observe(element);
    return () => observer.disconnect();
  }, []);
}

function reveal(element: HTMLDivElement, index: number, rowHeight: number): void {
  const top = index * rowHeight;
  if (top < element.scrollTop) element.scrollTop = top;
  else if (top + rowHeight > element.scrollTop + element.clientHeight) {
    element.scrollTop = top + rowHeight - element.clientHeight;
  }
}
