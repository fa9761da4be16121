import type { BodyForm } from './body-variant.ts';
import { RAW_BYTES } from '../../../signature/reasons.ts';

/** Makes the `says` of a form that is recognized by the start of the body. */
function starts(pattern: RegExp, says: string): BodyForm['says'] {
  return ({ head }) => (pattern.test(head) ? says : undefined);
}

/** Makes the form of a body that is an object as a programming language prints it (`[object Object]`). */
function objectText(pattern: RegExp, says: string, fix: string): BodyForm {
  return { code: 'object-text', says: starts(pattern, says), fix };
}

const ALONE = 'Give the body alone: the argument of --data in the command';

/** Forms of bodies that are text other than JSON, recognized by their start. */
export const OTHER_TEXTS: readonly BodyForm[] = [
  objectText(
    /^\s*\[object \w+\]\s*$/,
    'is the text that JavaScript makes of an object',
    `Sign and send JSON.stringify(message), and in a receiver verify the bytes: express.raw(), not String(req.body)`,
  ),
  objectText(
    /^\s*Array\s*(?:$|\(\s*\n)|^array\(\d+\) \{/,
    'is the text that PHP makes of an array',
    "Sign and send json_encode($message), and in a receiver verify file_get_contents('php://input')",
  ),
  objectText(
    /^\s*[[{]\s*'|^\s*\{[^"]*: (?:None|True|False)\b/,
    'is a Python object as str() writes it, not JSON',
    'Sign and send json.dumps(message), and in a receiver verify request.get_data(), not str(request.json)',
  ),
  objectText(
    /^b'[^']*'\s*$|^b"/,
    'is bytes as Python prints them, with b and quotes around them',
    'Give the bytes themselves, or text.decode(), not str(bytes)',
  ),
  objectText(
    /^\s*\{\s*(?:"[^"]*"|:\w+)\s*=>/,
    'is a hash as Ruby inspects it, not JSON',
    'Sign and send message.to_json, and in a receiver verify request.raw_post, not params.to_s',
  ),
  objectText(
    /^\s*map\[\w+:/,
    'is a map as Go prints it, not JSON',
    'Sign and send what json.Marshal gives, and in a receiver verify io.ReadAll(r.Body)',
  ),
  objectText(
    /^\s*\{\w+=[^"{]/,
    'is a map as Java prints it, not JSON',
    'Sign and send what an ObjectMapper writes, and in a receiver verify the bytes (@RequestBody byte[])',
  ),
  objectText(
    /^\s*<Buffer [0-9a-f ]+/,
    'is a Buffer as Node prints it',
    'Give the Buffer itself: its text in a log is not the body',
  ),
  objectText(
    /^System\.[\w.`[\], ]+\s*$/,
    'is the name of a class of .NET: ToString() of an object',
    'Sign and send JsonSerializer.Serialize(message), and in a receiver verify the bytes of Request.Body',
  ),
  {
    code: 'wrapped-body',
    says: starts(
      /^(?:[*><] |\{ \[\d+ bytes)|^HTTP\/\d/,
      'is the output of curl -v or -i: lines of the request and of the response',
    ),
    fix: `${ALONE}, without the lines that begin with *, > or <`,
  },
  {
    code: 'wrapped-body',
    says: starts(/^--[^\r\n]{1,70}\r?\nContent-Disposition: form-data/i, 'is a multipart form'),
    fix: 'Send the JSON itself as the body, with Content-Type: application/json, not as a field of a form',
  },
  {
    code: 'wrapped-body',
    says: starts(/^\s*<(?:!doctype|html|\?xml)/i, 'is HTML or XML: a page of an error, or another request'),
    fix: 'Give the body of the POST that X-Signature came with',
  },
  objectText(
    /^\s*(?:\[\s*)?\{\s*[A-Za-z_$][\w$]*:\s/,
    'is an object as a log prints it, with keys without quotes, not JSON',
    'Sign and send JSON, and in a receiver verify the bytes: express.raw(), request.raw_post, not what a log shows',
  ),
  {
    code: 'wrapped-body',
    says: starts(/^\s*(?:\$ )?curl\s+\S/, 'is a command of curl'),
    fix: ALONE,
  },
  {
    code: 'wrapped-body',
    says: starts(/^[A-Z]{3,7} \S+ HTTP\/\d/, 'is a whole HTTP request, which holds the body'),
    inside: ({ text }) => text?.replace(/^[\s\S]*?\r?\n\r?\n/, ''),
    fix: 'Give --format http, or the body alone: what follows the empty line',
  },
  {
    // Matches typographic double quotes as UTF-8 bytes, because `head` has one character per byte.
    code: 'other-encoding',
    says: starts(
      /^\s*(?:\[\s*)?\{\s*\u00e2\u0080[\u009c-\u009f]/,
      'has typographic quotes, so it is not JSON',
    ),
    inside: ({ text }) => text?.replaceAll(/[\u201c-\u201f]/g, '"'),
    fix: 'Give the body as it came: a chat, a word processor or a page replaced its quotes',
  },
  objectText(
    /^(?:---\s*\n)?[A-Za-z_]\w*:(?:[ \t].*)?\r?\n(?:[ \t-].*\r?\n)*[A-Za-z_]\w*:(?:\s|$)/,
    'is YAML, not JSON',
    RAW_BYTES,
  ),
  {
    ...objectText(/^<[a-z][\w:-]*[\s>/]/i, 'is XML', RAW_BYTES),
    isHint: true,
  },
  {
    ...objectText(/^[\w.[\]%-]+=[^&\s=][^&\s]*(?:&[\w.[\]%-]+=[^&\s]*)*\s*$/, 'is a form', RAW_BYTES),
    isHint: true,
  },
];
