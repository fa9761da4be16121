/** Minimum number of leading bytes that `inputRejectionOf` needs, unless the input is shorter. */
export const SIGNATURE_BYTES = 6;

export interface InputRejection {
  readonly message: string;
  readonly hint: string;
}

/** Binary formats and unsupported encodings, recognized by their first bytes. */
const KNOWN: readonly (InputRejection & { readonly bytes: readonly number[] })[] = [
  ...[
    [0xff, 0xfe, 0x00, 0x00],
    [0x00, 0x00, 0xfe, 0xff],
  ].map((bytes) => utf('UTF-32', bytes)),
  ...[
    [0xff, 0xfe],
    [0xfe, 0xff],
  ].map((bytes) => utf('UTF-16', bytes)),
  {
    bytes: [0x1f, 0x8b],
    message: 'is gzipped twice',
    hint: 'unpack it once: gzip -dc FILE | hooks replay -',
  },
  packed([0x50, 0x4b, 0x03, 0x04], 'a zip file', 'unzip -p FILE'),
  packed([0x28, 0xb5, 0x2f, 0xfd], 'compressed with zstd', 'zstd -dc FILE'),
  packed([0x42, 0x5a, 0x68], 'compressed with bzip2', 'bzip2 -dc FILE'),
  packed([0x37, 0x7a, 0xbc, 0xaf, 0x27, 0x1c], 'a 7z archive', '7z x -so FILE'),
  packed([0x04, 0x22, 0x4d, 0x18], 'compressed with lz4', 'lz4 -dc FILE'),
  packed([0xff, 0x06, 0x00, 0x00, 0x73, 0x4e], 'compressed with snappy', 'snzip -dc FILE'),
  binary([0x89, 0x50, 0x4e, 0x47], 'a PNG image'),
  binary([0x25, 0x50, 0x44, 0x46], 'a PDF'),
  other([0x4f, 0x62, 0x6a, 0x01], 'an Avro file', 'avro-tools tojson FILE'),
  packed([0xfd, 0x37, 0x7a, 0x58, 0x5a], 'compressed with xz', 'xz -dc FILE'),
  ...[0x01, 0x5e, 0x9c, 0xda].map((level) =>
    packed([0x78, level], 'compressed with zlib', 'zlib-flate -uncompress < FILE'),
  ),
  other([0x53, 0x51, 0x4c, 0x69, 0x74, 0x65], 'a database file', `sqlite3 FILE 'select body from …'`),
  other([0x50, 0x41, 0x52, 0x31], 'a Parquet file', `duckdb -json -c "from 'FILE'"`),
];

/** Text formats other than JSON, recognized by how the text begins. */
const OTHER_TEXTS: readonly (InputRejection & { readonly pattern: RegExp })[] = [
  {
    pattern: /^<(?:!doctype html|html)/i,
    message: 'is HTML, perhaps an error or login page, not the file',
    hint: 'download it again with curl -f, and look at the result; hooks replay reads JSON and NDJSON',
  },
  {
    pattern: /^<\?xml|^<[a-z][\w:-]*[\s>/]/i,
    message: 'is XML, not JSON',
    hint: "convert it: yq -p xml -o json -I 0 '.events.event[]' FILE | hooks replay -",
  },
  {
    pattern: /^(?:---\s+)?[A-Za-z_]\w*:(?:\s|$)/,
    message: 'is YAML, not JSON',
    hint: 'convert it: yq -o json -I 0 . FILE | hooks replay -',
  },
  {
    pattern: /^---\s|^- [\w"']+:\s/,
    message: 'is YAML, not JSON',
    hint: "convert it: yq -o json -I 0 '.[]' FILE | hooks replay -",
  },
  {
    pattern: /^version https:\/\/git-lfs\b/,
    message: 'is a Git LFS pointer, not the file',
    hint: 'fetch the file itself: git lfs pull',
  },
  {
    pattern: /^"?[A-Za-z_][\w ]*"?(?:[,;\t]"?[A-Za-z_][\w. ]*"?)+\r?(?:\n|$)/,
    message: 'is CSV, not JSON',
    hint: 'convert it: mlr --icsv --ojsonl cat FILE | hooks replay -; a column per field: type, event, userId',
  },
  {
    pattern: /^[\w+/-]{40,}={0,2}\s*(?:\n|$)/,
    message: 'is base64, not JSON',
    hint: 'decode it: base64 -d FILE | hooks replay -',
  },
];

/** JSON arrays of something other than messages, recognized by their first characters. */
const OTHER_LISTS: readonly (InputRejection & { readonly pattern: RegExp })[] = [
  {
    pattern: /^\[\s*"\s*[{[]/,
    message: 'is a list of strings that contain JSON: each was encoded twice',
    hint: "take the messages out: jq -c '.[] | fromjson' FILE | hooks replay -",
  },
  {
    pattern: /^\[\s*"/,
    message: 'is a list of strings, not of messages',
    hint: 'give a list of objects, each a message: [{"type":"track", …}, …]',
  },
];

/** Returns why JSON text is rejected as a whole; undefined if its entries are read one by one. */
export function listRejectionOf(text: string): InputRejection | undefined {
  return OTHER_LISTS.find(({ pattern }) => pattern.test(text));
}

/** Returns why text that is not JSON is rejected as a whole; undefined if its lines are read one by one. */
export function textRejectionOf(text: string): InputRejection | undefined {
  return OTHER_TEXTS.find(({ pattern }) => pattern.test(text));
}

/** Returns why an input that begins with these bytes is rejected; undefined if it seems to be UTF-8 text. */
export function inputRejectionOf(head: Uint8Array): InputRejection | undefined {
  const known = KNOWN.find(({ bytes }) => startsWith(head, bytes));
  if (known !== undefined) return known;
  if (head[0] === 0 && head.every((byte) => byte === 0)) {
    return { message: 'is not text: it begins with zero bytes', hint: 'check that it is the right file' };
  }
  if (isUtf16(head.subarray(0, 4))) return utf('UTF-16', []);
  // Accepts an input that begins like JSON: if it contains a control character, only the entry with it is rejected.
  if (/^\s*[[{]/.test(Buffer.from(head).toString('latin1'))) return undefined;
  return head.some((byte) => isBinary(byte)) ? binary([], 'a binary file') : undefined;
}

/** Whether the bytes are ASCII text in UTF-16: every other byte is zero. */
function isUtf16(head: Uint8Array): boolean {
  const zeroAt = head.indexOf(0);
  return (
    zeroAt !== -1 && head.every((byte, index) => (index % 2 === zeroAt % 2 ? byte === 0 : isAscii(byte)))
  );
}

function isAscii(byte: number): boolean {
  return byte < 0x80 && !isBinary(byte);
}

/**
 * Whether a byte is a control character that text does not contain. Allows 0x09 to 0x0d (tabs, line and page breaks) and
 * 0x1b to 0x1f, which include the ESC of terminal colors and the record separator of JSON text sequences.
 */
function isBinary(byte: number): boolean {
  return byte < 0x09 || (byte > 0x0d && byte < 0x1b);
}

function startsWith(head: Uint8Array, bytes: readonly number[]): boolean {
  return bytes.every((byte, index) => head[index] === byte);
}

function binary(bytes: readonly number[], what: string) {
  return { bytes, message: `is ${what}, not text`, hint: 'check that it is the right file' };
}

function utf(name: 'UTF-16' | 'UTF-32', bytes: readonly number[]) {
  return {
    bytes,
    message: `is ${name}, not UTF-8`,
    hint: `convert it: iconv -f ${name} -t UTF-8 FILE | hooks replay -`,
  };
}

function other(bytes: readonly number[], what: string, command: string) {
  return { bytes, message: `is ${what}, not JSON`, hint: `export it: ${command} | hooks replay -` };
}

function packed(bytes: readonly number[], what: string, command: string) {
  return {
    bytes,
    message: `is ${what}, which is not supported`,
    hint: `unpack it: ${command} | hooks replay -`,
  };
}
