import type { JSX } from 'preact';
import { useMemo, useState } from 'preact/hooks';
import { printable } from '../../../redact.ts';
import { unquoted, type JsonTreeNode } from './json-tree.ts';
import { Windowed } from '../windowed.tsx';

const ROW_HEIGHT = 24;
/** Number of values from which on a tree is not fully open at first: it opens only its first two levels. */
const OPEN_ALL_BELOW = 1_000;
/** Maximum length of a shown string. The Text tab shows the whole string. */
const MAX_SHOWN = 400;

interface Branch {
  readonly path: string;
  readonly depth: number;
  readonly name: string | undefined;
  readonly node: JsonTreeNode;
}

interface TreeViewProps {
  readonly root: JsonTreeNode;
  /** Names of the items of a list. Large lists with names open only their first level. @default their indexes */
  readonly names?: readonly string[] | undefined;
}

/** JSON as a tree. The mouse and the arrow keys open and close branches. */
export function TreeView({ root, names }: TreeViewProps): JSX.Element {
  const [toggled, setToggled] = useState<ReadonlySet<string>>(new Set());
  const [active, setActive] = useState(0);
  const isSmall = useMemo(() => sizeOf(root, OPEN_ALL_BELOW) < OPEN_ALL_BELOW, [root]);
  const openLevels = names === undefined ? 2 : 1;
  const isOpen = ({ path, depth }: Branch): boolean => (isSmall || depth < openLevels) !== toggled.has(path);
  const branches = useMemo(() => visible(root, isOpen, names), [root, names, toggled, isSmall]);
  const toggle = (path: string): void => {
    const next = new Set(toggled);
    if (!next.delete(path)) next.add(path);
    setToggled(next);
  };
  const onKeyDown = (event: KeyboardEvent): void => {
    const branch = branches[active];
    if (branch === undefined || !MOVES.has(event.key)) return;
    event.preventDefault();
    event.stopPropagation();
    const isBranch = 'entries' in branch.node;
    const wants = { ArrowRight: false, ArrowLeft: true }[event.key];
    if (
      isBranch &&
      (wants === undefined ? event.key === 'Enter' || event.key === ' ' : isOpen(branch) === wants)
    ) {
      toggle(branch.path);
    } else setActive(moved(branches, active, event.key));
  };
  return (
    <Windowed
      count={branches.length}
      rowHeight={ROW_HEIGHT}
      active={{ index: active, key: active }}
      row={(index) => {
        const branch = branches[index];
        if (branch === undefined) return undefined;
        return (
          <TreeRow
            key={branch.path}
            branch={branch}
            index={index}
            isOpen={isOpen(branch)}
            isActive={index === active}
            onToggle={() => {
              setActive(index);
              if ('entries' in branch.node) toggle(branch.path);
            }}
          />
        );
      }}
      attributes={{
        class: 'tree pane',
        role: 'tree',
        tabIndex: 0,
        'aria-label': 'Body as a tree',
        'aria-activedescendant': `branch-${active}`,
        onKeyDown,
      }}
    />
  );
}

const MOVES = new Set(['ArrowUp', 'ArrowDown', 'ArrowLeft', 'ArrowRight', 'Home', 'End', 'Enter', ' ']);

function moved(branches: readonly Branch[], active: number, key: string): number {
  switch (key) {
    case 'ArrowDown':
    case 'ArrowRight':
      return Math.min(active + 1, branches.length - 1);
    case 'ArrowUp':
      return Math.max(active - 1, 0);
    case 'ArrowLeft': {
      const depth = branches[active]?.depth ?? 0;
      const parent = branches.findLastIndex((each, index) => index < active && each.depth < depth);
      return Math.max(parent, 0);
    }
    case 'Home':
      return 0;
    case 'End':
      return branches.length - 1;
    default:
      return active;
  }
}

/** Returns the branches whose parents are all open, in order. */
function visible(
  root: JsonTreeNode,
  isOpen: (branch: Branch) => boolean,
  names: readonly string[] | undefined,
): Branch[] {
  const found: Branch[] = [];
  const add = (branch: Branch): void => {
    found.push(branch);
    const { node, path, depth } = branch;
    if (!('entries' in node) || !isOpen(branch)) return;
    for (const [index, { key, node: value }] of node.entries.entries()) {
      const given = depth === 0 ? names?.[index] : undefined;
      const name = given === undefined ? String(key) : `${index + 1}. ${given}`;
      add({ path: `${path}/${index}`, depth: depth + 1, name, node: value });
    }
  };
  add({ path: '', depth: 0, name: undefined, node: root });
  return found;
}

/** Counts the values of a tree, up to `enough`. */
function sizeOf(node: JsonTreeNode, enough: number): number {
  if (!('entries' in node)) return 1;
  let size = 1;
  for (const entry of node.entries) {
    if (size >= enough) return size;
    size += sizeOf(entry.node, enough - size);
  }
  return size;
}

interface TreeRowProps {
  readonly branch: Branch;
  readonly index: number;
  readonly isOpen: boolean;
  readonly isActive: boolean;
  readonly onToggle: () => void;
}

function TreeRow({ branch, index, isOpen, isActive, onToggle }: TreeRowProps): JSX.Element {
  const { depth, name, node } = branch;
  const isBranch = 'entries' in node && node.entries.length > 0;
  return (
    <div
      id={`branch-${index}`}
      class={`branch${isActive ? ' active' : ''}`}
      role="treeitem"
      aria-level={depth + 1}
      aria-selected={isActive}
      {...(isBranch && { 'aria-expanded': isOpen })}
      style={{ paddingLeft: `${18 + depth * 18}px` }}
      onClick={onToggle}
    >
      <span class={`twist${isBranch ? (isOpen ? ' open' : ' closed') : ''}`} aria-hidden="true" />
      {name !== undefined && <bdi class="key">{printable(name, MAX_SHOWN)}</bdi>}
      <Value node={node} isOpen={isOpen} />
    </div>
  );
}

function Value({ node, isOpen }: { readonly node: JsonTreeNode; readonly isOpen: boolean }): JSX.Element {
  if ('entries' in node) {
    const [open, close] = node.kind === 'object' ? '{}' : '[]';
    if (node.entries.length === 0) return <span class="count">{`${open}${close}`}</span>;
    const count = `${node.entries.length} ${node.kind === 'object' ? 'field' : 'item'}${node.entries.length === 1 ? '' : 's'}`;
    return <span class="count">{isOpen ? count : `${open} ${count} ${close}`}</span>;
  }
  if (node.kind !== 'string') {
    return <span class={`value ${node.kind}`}>{printable(node.text, MAX_SHOWN)}</span>;
  }
  // Parses and formats the string again, to show unnecessary escapes as plain text.
  const text = unquoted(node.text);
  return (
    <span class="value string">
      <bdi>{printable(JSON.stringify(text.slice(0, MAX_SHOWN)), MAX_SHOWN * 6 + 2)}</bdi>
      {text.length > MAX_SHOWN && <span class="count">… {text.length.toLocaleString('en')} characters</span>}
    </span>
  );
}
