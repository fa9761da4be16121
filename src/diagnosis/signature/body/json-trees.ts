import type { JsonMember, JsonNode } from '../../../signature/body/json-text.ts';
import { jsonTreeText } from '../../../signature/body/json-tree-text.ts';
import { COMPACT_SPELLING } from '../../../signature/body/spellings.ts';

export function nodeMembers(node: JsonNode): readonly JsonMember[] {
  return node.kind === 'object' ? node.members : [];
}

/** Returns the messages of a list, or of a batch as in Segment's API: `{"batch":[…]}`. Undefined for other JSON. */
export function listIn(node: JsonNode): readonly JsonNode[] | undefined {
  if (node.kind === 'array') return node.items;
  const batch = nodeMembers(node).find(({ key }) => key === 'batch')?.value;
  return batch?.kind === 'array' ? batch.items : undefined;
}

/** Writes JSON as JSON.stringify does, but keeps numbers as they were written and keys in their order. */
export function compact(node: JsonNode): string {
  return jsonTreeText(node, COMPACT_SPELLING);
}

/** Copies a tree and replaces each of its nodes, children before their parents. */
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
