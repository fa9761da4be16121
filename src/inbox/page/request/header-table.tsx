import type { JSX } from 'preact';
import { printable } from '../../../redact.ts';

interface HeaderTableProps {
  readonly headers: readonly (readonly [name: string, value: string])[];
}

/** Received or sent headers, in order. */
export function HeaderTable({ headers }: HeaderTableProps): JSX.Element {
  return (
    <table class="headers">
      <tbody>
        {headers.map(([name, value], index) => (
          <tr key={`${index} ${name}`}>
            <th scope="row">{printable(name)}</th>
            <td>
              <bdi>{printable(value, 16_384)}</bdi>
            </td>
          </tr>
        ))}
      </tbody>
    </table>
  );
}
