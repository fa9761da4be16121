/**
 * Replaces all members of a JSON object but those of this name by blanks, so that the others keep their lines and columns.
 * `json` is valid.
 */
export function onlyMember(json: string, name: string): string {
  let kept = '';
  let at = 0;
  let isFirst = true;
  for (const { from, to } of membersOf(json, name)) {
    const separator = isFirst ? '{' : ',';
    // The blanked text contains a brace or a comma.
    kept += blank(json.slice(at, from)).replace(' ', separator) + json.slice(from, to);
    [at, isFirst] = [to, false];
  }
  return isFirst ? '{}' : `${kept}}`;
}

function blank(text: string): string {
  return text.replace(/[^\n]/g, ' ');
}

interface Member {
  /** The index of the key's first quote. */
  readonly from: number;
  /** The index after the value. */
  readonly to: number;
}

const TOKEN = /"(?:[^"\\]|\\.)*"|[{}[\],:]/gs;

/** The members of the outermost object, in order. */
function membersOf(json: string, name: string): readonly Member[] {
  const members: Member[] = [];
  let depth = 0;
  let key: RegExpExecArray | undefined;
  for (const token of json.matchAll(TOKEN)) {
    const [text] = token;
    const isEnd = depth === 1 && (text === ',' || text === '}');
    if (isEnd && key !== undefined && JSON.parse(key[0]) === name) {
      members.push({ from: key.index, to: token.index });
    }
    if (isEnd) key = undefined;
    else if (depth === 1 && text.startsWith('"')) key ??= token;
    if (text === '{' || text === '[') depth += 1;
    if (text === '}' || text === ']') depth -= 1;
  }
  return members;
}
