import { useEffect, useRef } from 'preact/hooks';

/** What a key does, by its name; each is told whether it did anything. */
export type Keys = Readonly<Record<string, (() => void) | undefined>>;

/** Keys for the whole page. In a field they are letters, but for Escape; with Ctrl, Alt or Meta they are the browser's. */
export function useKeys(keys: Keys): void {
  const latest = useRef(keys);
  latest.current = keys;
  useEffect(() => {
    const onKeyDown = (event: KeyboardEvent): void => {
      if (event.defaultPrevented || event.ctrlKey || event.altKey || event.metaKey) return;
      if (document.querySelector('dialog[open]') !== null || isTakenBy(event)) return;
      const act = latest.current[event.key];
      if (act === undefined) return;
      event.preventDefault();
      act();
    };
    document.addEventListener('keydown', onKeyDown);
    return () => document.removeEventListener('keydown', onKeyDown);
  }, []);
}

/** Whether what has the focus needs the key itself. */
function isTakenBy({ key, target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement) || key === 'Escape') return false;
  if (target.matches('input, select, textarea')) return true;
  if (key === 'Enter' && target.matches('button, a, summary')) return true;
  return /^(?:Arrow|Home|End)/.test(key) && target.closest('.pane, .tabs') !== null;
}
