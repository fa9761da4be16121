/** What Python prints for the bytes of a text: `str(body)`. */
export function pythonBytesText(bytes: Buffer): string {
  const text = bytes.toString('latin1');
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const inside = text
    .replaceAll('\\', '\\\\')
    .replaceAll('\n', '\\n')
    .replaceAll('\r', '\\r')
    .replaceAll('\t', '\\t')
    .replaceAll(quote, `\\${quote}`)
    .replaceAll(/[\x7f-\xff]/g, (character) => `\\x${character.charCodeAt(0).toString(16)}`);
  return `b${quote}${inside}${quote}`;
}

/** What Python prints for the object that a JSON text is parsed to: `str(message)`. */
export function pythonObjectText(json: string): string {
  return json.replaceAll(
    /"(?:[^"\\]|\\.)*"|true|false|null|[,:]/g,
    (part) => PYTHON_WORDS[part] ?? pythonString(part),
  );
}

const PYTHON_WORDS: Readonly<Record<string, string>> = {
  true: 'True',
  false: 'False',
  null: 'None',
  ',': ', ',
  ':': ': ',
};

function pythonString(literal: string): string {
  const text = JSON.parse(literal) as string; // the literal of a JSON string
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text.replaceAll('\\', '\\\\').replaceAll('\n', '\\n').replaceAll('\t', '\\t');
  return quote + escaped.replaceAll(quote, `\\${quote}`) + quote;
}
