import type { JSX } from 'preact';
import { Dialog, type DialogState } from './dialog.tsx';

const KEYS: readonly (readonly [keys: readonly string[], what: string])[] = [
  [['j', '↓'], 'the next request'],
  [['k', '↑'], 'the previous request'],
  [['g', 'G'], 'the newest, the oldest'],
  [['Enter'], 'move to the request'],
  [['/'], 'search'],
  [['1', '…', '5'], 'tree, text, bytes, headers, response'],
  [['r'], 'replay'],
  [['e'], 'edit and send'],
  [['d'], 'compare with another request'],
  [['c', 'f', 'l'], 'copy as curl, a fixture, a link'],
  [['Esc'], 'back'],
  [['?'], 'this help'],
];

const TERMS: readonly (readonly [term: string, what: string])[] = [
  ['signup paris', 'both words, in the listed texts or, literally, in the body'],
  ['type:track event:order', 'a type, a part of an event'],
  ['user:u1', 'a part of a user id or anonymous id'],
  ['status:5xx status:timeout', 'the response'],
  ['verdict:invalid path:/hook', 'the signature, the path'],
];

export function Help({ isOpen, onClose }: DialogState): JSX.Element {
  return (
    <Dialog id="help-title" title="Keys and search" isOpen={isOpen} onClose={onClose}>
      <dl>
        {KEYS.map(([keys, what]) => (
          <div key={what}>
            <dt>
              {keys.map((key) => (
                <kbd key={key}>{key}</kbd>
              ))}
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
      <h3>In the search field</h3>
      <dl class="terms">
        {TERMS.map(([term, what]) => (
          <div key={term}>
            <dt>
              <code>{term}</code>
            </dt>
            <dd>{what}</dd>
          </div>
        ))}
      </dl>
    </Dialog>
  );
}
