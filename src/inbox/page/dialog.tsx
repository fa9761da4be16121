import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';

export interface DialogState {
  readonly isOpen: boolean;
  readonly onClose: () => void;
}

interface DialogProps extends DialogState {
  /** Id of the heading, which labels the dialog. */
  readonly id: string;
  readonly title: string;
  readonly children: ComponentChildren;
}

/** A modal dialog. The browser traps the focus, closes the dialog on Escape and restores the focus. */
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
