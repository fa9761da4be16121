import { useEffect, useRef } from 'preact/hooks';

/** Functions to call for keys, by the name of the key. */
export type Keys = Readonly<Record<string, (() => void) | undefined>>;

/**
 * Handles keys of the whole page. Ignores keys in fields, except Escape, and keys with Ctrl, Alt or Meta, which belong to
 * the browser.
 */
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

/** Whether the focused element needs the key itself. */
function isTakenBy({ key, target }: KeyboardEvent): boolean {
  if (!(target instanceof HTMLElement) || key === 'Escape') return false;
  if (target.matches('input, select, textarea')) return true;
  if (key === 'Enter' && target.matches('button, a, summary')) return true;
  return /^(?:Arrow|Home|End)/.test(key) && target.closest('.pane, .tabs') !== null;
}
