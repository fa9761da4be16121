import type { JsonMember, JsonNode } from '../../../signature/body/json-text.ts';
import { jsonTreeText } from '../../../signature/body/json-tree-text.ts';
import { COMPACT_SPELLING } from '../../../signature/body/spellings.ts';

/** The members of an object; none for other values. */
export function nodeMembers(node: JsonNode): readonly JsonMember[] {
  return node.kind === 'object' ? node.members : [];
}

/** The messages of `[…]` or `{"batch":[…]}`. Undefined for other JSON. */
export function listIn(node: JsonNode): readonly JsonNode[] | undefined {
  if (node.kind === 'array') return node.items;
  const batch = nodeMembers(node).find(({ key }) => key === 'batch')?.value;
  return batch?.kind === 'array' ? batch.items : undefined;
}

/** Writes JSON without white space. */
export function compact(node: JsonNode): string {
  return jsonTreeText(node, COMPACT_SPELLING);
}

/** Replaces each node of a tree, children before their parents. */
export function mapped(node: JsonNode, replace: (node: JsonNode) => JsonNode): JsonNode {
  if (node.kind === 'array') {
    return replace({ kind: 'array', items: node.items.map((item) => mapped(item, replace)) });
  }
  if (node.kind !== 'object') return replace(node);
  return replace({
    kind: 'object',
    members: node.members.map((member) => ({ ...member, value: mapped(member.value, replace) })),
  });
}
