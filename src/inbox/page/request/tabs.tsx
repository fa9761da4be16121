import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import type { BodyKind } from '../body/body-view.tsx';

export type Tab = BodyKind | 'headers' | 'response';

export const TABS: readonly (readonly [tab: Tab, name: string])[] = [
  ['tree', 'Tree'],
  ['text', 'Text'],
  ['bytes', 'Bytes'],
  ['headers', 'Headers'],
  ['response', 'Response'],
];

interface TabsProps {
  readonly tab: Tab;
  readonly onTab: (tab: Tab) => void;
  readonly headers: number;
}

/** Tabs for the views of a request. The left and right keys change the tab. */
export function Tabs({ tab, onTab, headers }: TabsProps): JSX.Element {
  const list = useRef<HTMLDivElement>(null);
  useEffect(() => {
    // Moves the focus along if a key changed the tab.
    if (list.current?.contains(document.activeElement) !== true) return;
    list.current.querySelector<HTMLElement>('[aria-selected=true]')?.focus();
  }, [tab]);
  const onKeyDown = (event: KeyboardEvent): void => {
    const step = { ArrowRight: 1, ArrowLeft: -1 }[event.key];
    if (step === undefined) return;
    const index = TABS.findIndex(([each]) => each === tab);
    onTab(TABS[(index + step + TABS.length) % TABS.length]?.[0] ?? tab);
  };
  return (
    <div ref={list} class="tabs" role="tablist" aria-label="Views of the request" onKeyDown={onKeyDown}>
      {TABS.map(([each, name]) => (
        <button
          key={each}
          id={`tab-${each}`}
          type="button"
          role="tab"
          aria-selected={each === tab}
          aria-controls="content"
          tabIndex={each === tab ? 0 : -1}
          onClick={() => onTab(each)}
        >
          {name}
          {each === 'headers' && <span class="number">{headers}</span>}
        </button>
      ))}
    </div>
  );
}
