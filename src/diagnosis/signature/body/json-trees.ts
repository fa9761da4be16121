import type { JsonMember, JsonNode } from '../../../signature/body/json-text.ts';

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

/** Drops the members for which `isDropped` is true, at any depth. Returns the same tree if no member is dropped. */
export function dropped(node: JsonNode, isDropped: (member: JsonMember) => boolean): JsonNode {
  let hasDropped = false;
  const kept = mapped(node, (each) => {
    if (each.kind !== 'object') return each;
    const members = each.members.filter((member) => !isDropped(member));
    hasDropped ||= members.length < each.members.length;
    return { kind: 'object', members };
  });
  return hasDropped ? kept : node;
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
