import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

interface DialogProps {
  /** Of its heading, which names it. */
  readonly id: string;
  readonly title: string;
  readonly isOpen: boolean;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
}

/** A dialog in front of the page. The browser keeps the focus in it, closes it with Escape and puts the focus back. */
export function Dialog({ id, title, isOpen, onClose, children }: DialogProps): JSX.Element {
  const ref = useRef<HTMLDialogElement>(null);
  useEffect(() => {
    if (isOpen) ref.current?.showModal();
    else ref.current?.close();
  }, [isOpen]);
  return (
    <dialog ref={ref} class="dialog" aria-labelledby={id} onClose={onClose}>
      {isOpen && (
        <>
          <header>
            <h2 id={id}>{title}</h2>
            <button type="button" onClick={onClose}>
              Close
            </button>
          </header>
          {children}
        </>
      )}
    </dialog>
  );
}
