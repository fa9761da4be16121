import { createHmac, randomUUID } from 'node:crypto';
import type { ConfigError } from '../../../errors.ts';
import { lossOf, readJson } from '../../../message/json/read-json.ts';
import { printable } from '../../../redact.ts';
import { DEFAULT_SCHEMES } from '../../../signature/schemes/find-schemes.ts';
import { layoutOf } from '../../../signature/schemes/layout.ts';
import type { SignatureScheme, SignedFields } from '../../../signature/schemes/scheme.ts';
import { signedFields, Signer } from '../../../signature/schemes/signer.ts';
import { sign } from '../../../signature/sign.ts';
import { flagError } from '../../flags/flag-values.ts';
import {
  commandSchemes,
  readsConfig,
  readSchemeFlag,
  type SchemeFlags,
} from '../../flags/signature/scheme-flags.ts';
import { isStdin, readBodyInput, readWholeBody, type BodySource } from '../../flags/signature/body-input.ts';
import type { CommandContext, GlobalOptions } from '../../command.ts';
import { warnOfOddSecrets } from '../../flags/signature/odd-secret.ts';
import { requiredSecrets, type SecretFlags } from '../../flags/signature/secret-flags.ts';

/** The flags of `hooks sign`, as typed. */
export interface SignFlags extends SecretFlags, SchemeFlags, GlobalOptions {
  readonly id?: string;
  readonly timestamp?: string;
  readonly stringify?: true;
  readonly asHeader?: true;
}

/** Runs `hooks sign`. */
export async function signFile(file: BodySource, flags: SignFlags, context: CommandContext): Promise<void> {
  const { io } = context;
  const secrets = await requiredSecrets(flags, 'sign', io);
  if (!flags.quiet) warnOfOddSecrets(secrets, io);
  const schemes = await (readsConfig(flags, io)
    ? commandSchemes(flags, 'sign', io)
    : readSchemeFlag(flags, io));
  if (schemes !== undefined) {
    return signBySchemes(file, { flags, signer: new Signer(schemes, secrets) }, context);
  }
  rejectWithoutScheme(flags);
  const [secret] = secrets;
  const signBody = flags.stringify ? signStringified : signBytes;
  const { signature, bytes, remark } = await signBody(file, secret, context);
  if (remark !== undefined && !flags.quiet) io.note(`note: ${remark}`);
  const text = flags.asHeader ? `X-Signature: ${signature}` : signature;
  io.out(`${flags.output === 'json' ? JSON.stringify({ signature, bytes }) : text}\n`);
}

interface SchemeSigning {
  readonly flags: SignFlags;
  readonly signer: Signer;
}

/** Prints the headers of all schemes, or of the default one alone what it prints without a name. */
async function signBySchemes(
  file: BodySource,
  { flags, signer }: SchemeSigning,
  context: CommandContext,
): Promise<void> {
  const { io } = context;
  const fields = fieldsOf(flags, signer.schemes);
  if (flags.id !== undefined && fields.id !== flags.id && !flags.quiet) io.note(HASHED_ID);
  const pass = signer.start(fields);
  let bytes = 0;
  if (flags.stringify) {
    const json = await readStringified(file, io);
    bytes = Buffer.byteLength(json);
    pass.update(json);
  } else {
    await readBodyInput(file, io, (chunk) => {
      bytes += chunk.length;
      pass.update(chunk);
    });
  }
  const { headers, signature } = pass.finish();
  const pairs = headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1] ?? ''] as const] : []));
  const isDefault = signer.schemes.every((scheme) => DEFAULT_SCHEMES.includes(scheme));
  const json = isDefault ? { signature, bytes } : { headers: Object.fromEntries(pairs), bytes };
  const lines = isDefault && !flags.asHeader ? signature : pairs.map((pair) => pair.join(': ')).join('\n');
  io.out(`${flags.output === 'json' ? JSON.stringify(json) : lines}\n`);
}

/** Throws ConfigError for an invalid id or time, or one that no scheme signs. */
function fieldsOf({ id, timestamp }: SignFlags, schemes: readonly SignatureScheme[]): SignedFields {
  const uses = (field: 'hasId' | 'hasTimestamp'): boolean =>
    schemes.some((scheme) => layoutOf(scheme)[field]);
  if (id !== undefined && !uses('hasId')) throw notSigned('--id');
  if (timestamp !== undefined && !uses('hasTimestamp')) throw notSigned('--timestamp');
  if (timestamp !== undefined && !/^(?:0|[1-9]\d{0,10})$/.test(timestamp)) {
    throw flagError(
      '--timestamp',
      `Expected \`--timestamp\` to be Unix time in seconds, got ${printable(timestamp, 40)}`,
      'give whole seconds, as date +%s prints them',
    );
  }
  const fields = signedFields(id ?? `msg_${randomUUID()}`, Date.now());
  return timestamp === undefined ? fields : { ...fields, timestamp };
}

const HASHED_ID =
  'note: the id is signed as its SHA-256 in hex, as send does with ids that have other characters than letters, digits, - and _';

function notSigned(flag: string): ConfigError {
  return flagError(
    flag,
    `\`${flag}\` is for schemes that sign it, and none is named`,
    'add --scheme standard-webhooks, or leave it out',
  );
}

function rejectWithoutScheme({ id, timestamp }: SignFlags): void {
  if (id !== undefined) throw notSigned('--id');
  if (timestamp !== undefined) throw notSigned('--timestamp');
}

interface SignatureOfBody {
  readonly signature: string;
  readonly bytes: number;
  readonly remark?: string;
}

async function signBytes(file: BodySource, secret: string, { io }: CommandContext): Promise<SignatureOfBody> {
  const hmac = createHmac('sha1', secret);
  let bytes = 0;
  let last: number | undefined;
  const kept: Uint8Array[] = [];
  await readBodyInput(file, io, (chunk) => {
    hmac.update(chunk);
    bytes += chunk.length;
    last = chunk.at(-1) ?? last;
    if (bytes <= LARGEST_PARSED_BYTES) kept.push(new Uint8Array(chunk));
  });
  const isJson = (): boolean => bytes <= LARGEST_PARSED_BYTES && lossOf(Buffer.concat(kept)) === '';
  return { signature: hmac.digest('hex'), bytes, ...remarkOn(last, isJson) };
}

function remarkOn(lastByte: number | undefined, isJson: () => boolean): { remark?: string } {
  if (lastByte === undefined) return { remark: 'the body is empty; that is what was signed' };
  if (lastByte !== 0x0a) return {};
  const remark = 'the body ends with a newline, which is signed too';
  return { remark: isJson() ? `${remark}; --stringify leaves it out` : remark };
}

/** Beyond this size the remark does not say whether the body is JSON: signing takes constant memory. */
const LARGEST_PARSED_BYTES = 1024 * 1024;

/** Beyond this size a text no longer fits into a string. */
const LARGEST_TEXT_BYTES = 256 * 1024 * 1024;

async function signStringified(
  file: BodySource,
  secret: string,
  { io }: CommandContext,
): Promise<SignatureOfBody> {
  const json = await readStringified(file, io);
  return { signature: sign(json, secret), bytes: Buffer.byteLength(json) };
}

/** Throws InputError for a body that is no JSON, and ValidationError for one that loses something: `send` rejects it, and nothing verifies it. */
async function readStringified(file: BodySource, io: CommandContext['io']): Promise<string> {
  const body = await readWholeBody(file, io, LARGEST_TEXT_BYTES);
  return JSON.stringify(readJson(body, { file: isStdin(file) ? undefined : file }));
}
