/** The bytes that `inputRejectionOf` checks. */
export const SIGNATURE_BYTES = 6;

const BOM = [0xef, 0xbb, 0xbf];

export interface InputRejection {
  readonly message: string;
  readonly hint: string;
}

/** The first bytes of files that are not JSON text. */
const KNOWN: readonly (InputRejection & { readonly bytes: readonly number[] })[] = [
  ...[
    [0xff, 0xfe],
    [0xfe, 0xff],
  ].map((bytes) => utf16(bytes)),
  {
    bytes: [0x1f, 0x8b],
    message: 'is gzipped twice',
    hint: 'unpack it once: gzip -dc FILE | hooks replay -',
  },
  packed([0x50, 0x4b, 0x03, 0x04], 'a zip file', 'unzip -p FILE'),
  packed([0x28, 0xb5, 0x2f, 0xfd], 'packed with zstd', 'zstd -dc FILE'),
  packed([0x42, 0x5a, 0x68], 'packed with bzip2', 'bzip2 -dc FILE'),
  packed([0xfd, 0x37, 0x7a, 0x58, 0x5a], 'packed with xz', 'xz -dc FILE'),
  ...[0x01, 0x5e, 0x9c, 0xda].map((level) =>
    packed([0x78, level], 'packed with zlib', 'zlib-flate -uncompress < FILE'),
  ),
  other([0x53, 0x51, 0x4c, 0x69, 0x74, 0x65], 'a database file', `sqlite3 FILE 'select body from …'`),
  other([0x50, 0x41, 0x52, 0x31], 'a Parquet file', `duckdb -json -c "from 'FILE'"`),
];

/** Texts that are no JSON, by their first lines. The hint has the command that makes JSON of them. */
const OTHER_TEXTS: readonly (InputRejection & { readonly pattern: RegExp })[] = [
  {
    pattern: /^<(?:!doctype html|html)/i,
    message: 'is HTML: a page, perhaps of an error or a login, in place of the file',
    hint: 'download it again with curl -f, and look at what comes; hooks replay reads JSON and NDJSON',
  },
  {
    pattern: /^<\?xml|^<[a-z][\w:-]*[\s>/]/i,
    message: 'is XML, not JSON',
    hint: "convert it: yq -p xml -o json -I 0 '.events.event[]' FILE | hooks replay -",
  },
  {
    pattern: /^---\s|^- [\w"']+:\s|^[A-Za-z_]\w*:(?:\s|$)/,
    message: 'is YAML, not JSON',
    hint: "convert it: yq -o json -I 0 '.[]' FILE | hooks replay -",
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

/** Why a text that does not begin as JSON is rejected as a whole; undefined when its lines are read one by one. */
export function textRejectionOf(text: string): InputRejection | undefined {
  return OTHER_TEXTS.find(({ pattern }) => pattern.test(text));
}

/** Why an input that begins with these bytes is rejected; undefined when it may be read. */
export function inputRejectionOf(head: Uint8Array): InputRejection | undefined {
  const known = KNOWN.find(({ bytes }) => startsWith(head, bytes));
  if (known !== undefined) return known;
  const zeroAt = head.subarray(0, 4).indexOf(0);
  if (zeroAt === -1) return undefined;
  // ASCII in UTF-16 has a zero in every other byte.
  const isUtf16 = head[zeroAt ^ 1] !== 0;
  return isUtf16
    ? utf16([])
    : { message: 'is not text: it begins with zero bytes', hint: 'check that it is the right file' };
}

export function withoutBom(head: Buffer): Buffer {
  return startsWith(head, BOM) ? head.subarray(BOM.length) : head;
}

function startsWith(head: Uint8Array, bytes: readonly number[]): boolean {
  return bytes.every((byte, index) => head[index] === byte);
}

function utf16(bytes: readonly number[]) {
  return {
    bytes,
    message: 'is UTF-16, not UTF-8',
    hint: 'convert it: iconv -f UTF-16 -t UTF-8 FILE | hooks replay -',
  };
}

function other(bytes: readonly number[], what: string, command: string) {
  return { bytes, message: `is ${what}, not JSON`, hint: `export it: ${command} | hooks replay -` };
}

function packed(bytes: readonly number[], what: string, command: string) {
  return { bytes, message: `is ${what}, which is not read`, hint: `unpack it: ${command} | hooks replay -` };
}
