import type { JSX } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import { printable } from '../../redact.ts';

/** Id of the error of a field, for its `aria-describedby`. */
function errorId(field: string): string {
  return `${field}-error`;
}

/** Attributes of a field that has this error. None if the error is empty. */
export function invalidField(
  field: string,
  error: string,
): { readonly 'aria-invalid'?: true; readonly 'aria-describedby'?: string } {
  return error === '' ? {} : { 'aria-invalid': true, 'aria-describedby': errorId(field) };
}

interface FieldErrorProps {
  /** Id of the field. */
  readonly field: string;
  /** Empty if the field has no error. */
  readonly error: string;
}

/** The error of a field, to place below the field. Always present, because screen readers announce only a changed alert. */
export function FieldError({ field, error }: FieldErrorProps): JSX.Element {
  const line = useRef<HTMLParagraphElement>(null);
  useEffect(() => {
    if (error !== '') line.current?.scrollIntoView({ block: 'nearest' });
  }, [error]);
  return (
    <p ref={line} class="bad field-error" id={errorId(field)} role="alert">
      {error !== '' && <Sentence text={printable(error, 1_000)} />}
    </p>
  );
}

/** Shows a sentence with its parts in backquotes as code. */
export function Sentence({ text }: { readonly text: string }): JSX.Element {
  return (
    <span>
      {text.split('`').map((part, index) => (index % 2 === 1 ? <code key={index}>{part}</code> : part))}
    </span>
  );
}
