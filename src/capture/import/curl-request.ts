import type { HeaderPair } from '../capture.ts';
import { requestProblem } from '../http-request.ts';
import { REPLACED, RequestRejection, targetOfUrl, type Imported, type ImportedRequest } from './imported.ts';
import type { ShellCommand } from './shell-words.ts';

/** Reads a file that a command names after `@`. Throws RequestRejection. */
export type ReadNamedFile = (name: string) => Promise<Buffer>;

interface CurlCommand extends Pick<ShellCommand, 'words' | 'pipe'> {
  /** Why the words are unknown. Undefined if they are known. */
  readonly problem: string | undefined;
}

/** Reads the request of a curl command. `words` are its words from `curl` on. */
export async function curlRequest(
  { words, problem, pipe }: CurlCommand,
  what: string,
  readFile: ReadNamedFile,
): Promise<Imported> {
  if (problem !== undefined) return { kind: 'rejected', what, reason: problem };
  try {
    const call = new CurlCall();
    await call.read(words.slice(1), async (name) =>
      name === '-' && pipe.length > 0 ? pipedBytes(pipe) : readFile(name),
    );
    const { request } = call;
    return request === undefined ? { kind: 'skipped' } : { kind: 'request', request };
  } catch (error) {
    if (error instanceof RequestRejection) return { kind: 'rejected', what, reason: error.message };
    throw error;
  }
}

/** The bytes that a pipeline prints which writes a text or decodes base64, as `--curl` writes it. */
function pipedBytes([first = [], ...others]: ShellCommand['pipe']): Buffer {
  const [program, option, text] = first;
  const isText = program === 'printf' && option === '%s' && text !== undefined && first.length === 3;
  const [decoder] = others;
  const decodes = decoder?.[0] === 'base64' && /^(?:-d|-D|--decode)$/.test(decoder[1] ?? '');
  if (!isText || others.length > 1 || (decoder !== undefined && !decodes)) {
    throw new RequestRejection('its body is the output of another command');
  }
  return Buffer.from(text, decodes ? 'base64' : 'latin1');
}

/** Takes the next word of a command. */
type NextWord = () => string | undefined;

/** Options that change nothing in the request, by their letter or name. */
const IGNORED =
  /^(?:[sSkLivfN#0346O]|compressed|compressed-ssh|insecure|location|silent|show-error|include|verbose|fail|fail-with-body|http[\d.]+(?:-prior-knowledge)?|tlsv1(?:\.\d)?|ipv[46]|no-.*|raw|progress-bar|remote-name|tcp-nodelay|post30[123])$/;

/** Options with a value that changes nothing in the request. */
const IGNORED_WITH_VALUE =
  /^(?:[omwxcEYyz]|output|max-time|connect-timeout|write-out|proxy|cookie-jar|cert|key|cacert|capath|resolve|connect-to|retry|retry-delay|retry-max-time|interface|max-redirs|limit-rate|ciphers|proto|noproxy|dns-servers|unix-socket|abstract-unix-socket|stderr|trace|trace-ascii|dump-header|D|keepalive-time|local-port)$/;

/** The long names of the letters that are read. */
const LETTERS: Readonly<Record<string, string>> = {
  X: 'request',
  H: 'header',
  d: 'data',
  A: 'user-agent',
  b: 'cookie',
  e: 'referer',
  u: 'user',
  F: 'form',
  T: 'upload-file',
};

/** Options without a value that are read. */
const SWITCHES = /^(?:[GIg]|get|head|globoff|path-as-is)$/;

/** Options with a value that are read. */
const READ = new Set([
  ...Object.values(LETTERS),
  'url',
  'data-raw',
  'data-ascii',
  'data-binary',
  'data-urlencode',
  'json',
  'form-string',
  'oauth2-bearer',
]);

/** The request that the words of one curl command make. */
class CurlCall {
  #method: string | undefined;
  readonly #urls: string[] = [];
  readonly #headers: HeaderPair[] = [];
  readonly #data: Buffer[] = [];
  readonly #switches = new Set<string>();
  #isJson = false;

  /** Undefined for a request without a body. */
  get request(): ImportedRequest | undefined {
    const body = Buffer.concat(this.#data);
    if (body.length === 0 || this.#has('G', 'get', 'I', 'head')) return undefined;
    if (body.includes('\u{FFFD}')) throw new RequestRejection(REPLACED);
    const [method, headers] = [this.#method ?? 'POST', this.#sentHeaders()];
    const problem = requestProblem(method, headers);
    if (problem !== undefined) throw new RequestRejection(problem);
    return { method, url: this.#target(), headers, body };
  }

  #has(...names: readonly string[]): boolean {
    return names.some((name) => this.#switches.has(name));
  }

  /** The target that curl requests. It reads brackets and braces as a list of URLs, unless they are escaped, `[]`, or of an IPv6 address. */
  #target(): string {
    const [given, ...others] = this.#urls;
    if (given === undefined) throw new RequestRejection('it has no URL');
    if (others.length > 0) throw new RequestRejection('it has several URLs; write a command for each');
    const hasLists = !this.#has('g', 'globoff');
    if (hasLists && /(?<!\\)[[\]{}]/.test(given.replaceAll(/\[(?:|[\da-f]*:[\da-f:.]+(?:%\w*)?)\]/gi, ''))) {
      throw new RequestRejection(
        'curl reads the brackets or braces in its URL as several URLs; add --globoff if they belong to it',
      );
    }
    const url = hasLists ? given.replaceAll(/\\([[\]{}])/g, '$1') : given;
    return targetOfUrl(/^[a-z][a-z0-9+.-]*:\/\//i.test(url) ? url : `http://${url}`, this.#has('path-as-is'));
  }

  async read(words: readonly string[], readFile: ReadNamedFile): Promise<void> {
    const iterator = words[Symbol.iterator]();
    const next: NextWord = () => iterator.next().value;
    for (let word = next(); word !== undefined; word = next()) {
      // A redirect of the shell, with its file after a space.
      if (/^[\d&]?[<>]/.test(word)) {
        if (/^[\d&]?[<>]{1,3}[&|]?$/.test(word)) next();
      } else if (word.startsWith('--') && word.length > 2) {
        const [, name = '', value] = /^--([^=]*)(?:=([^]*))?$/.exec(word) ?? [];
        await this.#option(name, () => value ?? next() ?? '', readFile);
      } else if (word.startsWith('-') && word.length > 1) {
        await this.#letters(word.slice(1), next, readFile);
      } else {
        this.#urls.push(word);
      }
    }
  }

  /** Reads letters in one word, such as `-sSXPOST`: the value of a letter is the rest of the word, else the next word. */
  async #letters(letters: string, next: NextWord, readFile: ReadNamedFile): Promise<void> {
    let left = letters;
    while (left !== '') {
      const letter = left.slice(0, 1);
      left = left.slice(1);
      const value = (): string => {
        const text = left === '' ? (next() ?? '') : left;
        left = '';
        return text;
      };
      await this.#option(LETTERS[letter] ?? letter, value, readFile);
    }
  }

  async #option(name: string, value: () => string, readFile: ReadNamedFile): Promise<void> {
    if (SWITCHES.test(name)) this.#switches.add(name);
    else if (READ.has(name)) await this.#set(name, value(), readFile);
    else if (IGNORED_WITH_VALUE.test(name)) value();
    else if (!IGNORED.test(name)) {
      const flag = name.length === 1 ? `-${name}` : `--${name}`;
      throw new RequestRejection(`its option ${flag} is unknown here`);
    }
  }

  async #set(name: string, value: string, readFile: ReadNamedFile): Promise<void> {
    const text = Buffer.from(value, 'latin1').toString();
    switch (name) {
      case 'request':
        this.#method = text;
        return;
      case 'url':
        return void this.#urls.push(text);
      case 'header':
        return this.#addHeader(value);
      case 'user-agent':
        return void this.#headers.push(['User-Agent', value]);
      case 'referer':
        return void this.#headers.push(['Referer', value]);
      case 'cookie':
        return void this.#headers.push(['Cookie', value]);
      case 'user':
        return void this.#headers.push([
          'Authorization',
          `Basic ${Buffer.from(value, 'latin1').toString('base64')}`,
        ]);
      case 'oauth2-bearer':
        return void this.#headers.push(['Authorization', `Bearer ${value}`]);
      case 'form':
      case 'form-string':
        throw new RequestRejection('its form (-F) has boundaries that curl makes at random for each call');
      case 'upload-file':
        throw new RequestRejection('it sends a file (-T), not a body');
      default:
        return this.#addData(name, value, readFile);
    }
  }

  #addHeader(line: string): void {
    const [, name = '', separator, value = ''] = /^([^:;]+)([:;])[ \t]*([^]*)$/.exec(line) ?? [];
    if (line.startsWith('@') || name === '') {
      throw new RequestRejection('one of its headers cannot be read');
    }
    // curl leaves out a header without a value, and sends an empty one for `Name;`.
    if (value !== '' || separator === ';') this.#headers.push([name.trim(), value.trim()]);
  }

  async #addData(name: string, value: string, readFile: ReadNamedFile): Promise<void> {
    const part = await dataOf(name, value, readFile);
    const isJoined = this.#data.length > 0 && name !== 'json';
    this.#data.push(...(isJoined ? [Buffer.from('&')] : []), part);
    this.#isJson ||= name === 'json';
  }

  #sentHeaders(): readonly HeaderPair[] {
    const has = (wanted: string): boolean => this.#headers.some(([name]) => name.toLowerCase() === wanted);
    const type = this.#isJson ? 'application/json' : 'application/x-www-form-urlencoded';
    const added: HeaderPair[] = has('content-type') ? [] : [['Content-Type', type]];
    if (this.#isJson && !has('accept')) added.push(['Accept', 'application/json']);
    return [...this.#headers, ...added];
  }
}

/** The bytes of one option of data, as the manual of curl describes them. */
async function dataOf(name: string, value: string, readFile: ReadNamedFile): Promise<Buffer> {
  const named = (text: string): Promise<Buffer> => readFile(Buffer.from(text, 'latin1').toString());
  if (name === 'data-urlencode') {
    const [, key = '', mark = '', text = ''] = /^([^=@]*)([=@])([^]*)$/.exec(value) ?? ['', '', '', value];
    const content = mark === '@' ? (await named(text)).toString('latin1') : text;
    return Buffer.from((key === '' ? '' : `${key}=`) + percentEncoded(content), 'latin1');
  }
  if (name === 'data-raw' || !value.startsWith('@')) return Buffer.from(value, 'latin1');
  const bytes = await named(value.slice(1));
  if (name === 'data-binary' || name === 'json') return bytes;
  return Buffer.from(bytes.filter((byte) => byte !== 0x0a && byte !== 0x0d && byte !== 0));
}

function percentEncoded(latin1: string): string {
  return latin1.replaceAll(
    /[^\w.~-]/g,
    (char) => `%${char.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`,
  );
}
