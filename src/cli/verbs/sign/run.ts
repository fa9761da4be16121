import { randomUUID } from 'node:crypto';
import type { ConfigError } from '../../../errors.ts';
import { lossOf, readJson } from '../../../message/json/read-json.ts';
import { printable } from '../../../redact.ts';
import { DEFAULT_SCHEMES } from '../../../signature/schemes/find-schemes.ts';
import { layoutOf } from '../../../signature/schemes/layout.ts';
import type { SignatureScheme, SignedFields } from '../../../signature/schemes/scheme.ts';
import { signedFields, Signer } from '../../../signature/schemes/signer.ts';
import { flagError } from '../../flags/flag-values.ts';
import {
  commandSchemes,
  readsConfig,
  readSchemeFlag,
  type SchemeFlags,
} from '../../flags/signature/scheme-flags.ts';
import { isStdin, readBodyInput, readWholeBody, type BodySource } from '../../flags/signature/body-input.ts';
import type { CommandContext, GlobalOptions } from '../../command.ts';
import type { Io } from '../../io.ts';
import { warnOfOddSecrets } from '../../flags/signature/odd-secret.ts';
import { requiredSecrets, type SecretFlags } from '../../flags/signature/secret-flags.ts';

/** The flags of `hooks sign`, as typed. */
interface SignFlags extends SecretFlags, SchemeFlags, GlobalOptions {
  readonly id?: string;
  readonly timestamp?: string;
  readonly stringify?: true;
  readonly asHeader?: true;
}

/** Runs `hooks sign`. */
export async function signFile(file: BodySource, flags: SignFlags, { io }: CommandContext): Promise<void> {
  const secrets = await requiredSecrets(flags, 'sign', io);
  const schemes = await (readsConfig(flags, io)
    ? commandSchemes(flags, 'sign', io)
    : readSchemeFlag(flags, io));
  if (!flags.quiet) warnOfOddSecrets(secrets, [schemes], io);
  // Without a named scheme the first secret signs, even if it has the prefix of another scheme.
  const signer = new Signer(
    schemes ?? DEFAULT_SCHEMES,
    schemes === undefined ? secrets.slice(0, 1) : secrets,
  );
  const fields = fieldsOf(flags, signer.schemes);
  if (flags.id !== undefined && fields.id !== flags.id && !flags.quiet) io.note(HASHED_ID);
  const pass = signer.start(fields);
  const { bytes, remark } = await (flags.stringify ? updateStringified : updateBytes)(pass, file, io);
  if (schemes === undefined && remark !== undefined && !flags.quiet) io.note(`note: ${remark}`);
  const { headers, signature } = pass.finish();
  const pairs = headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1] ?? ''] as const] : []));
  const isDefault = signer.schemes.every((scheme) => DEFAULT_SCHEMES.includes(scheme));
  const json = isDefault ? { signature, bytes } : { headers: Object.fromEntries(pairs), bytes };
  const lines = isDefault && !flags.asHeader ? signature : pairs.map((pair) => pair.join(': ')).join('\n');
  io.out(`${flags.output === 'json' ? JSON.stringify(json) : lines}\n`);
}

/** Returns the values of --id and --timestamp. Throws ConfigError if one is invalid or no scheme signs it. */
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

type StartedSigning = ReturnType<Signer['start']>;

const HASHED_ID =
  'note: the id is signed as its SHA-256 in hex, as in send, because it has characters other than letters, digits, - and _';

function notSigned(flag: string): ConfigError {
  return flagError(
    flag,
    `\`${flag}\` is for schemes that sign it, and none is named`,
    `add --scheme standard-webhooks, or leave out ${flag}`,
  );
}

interface BodyFacts {
  readonly bytes: number;
  /** A note about an empty body or a final newline, which users sign by mistake. */
  readonly remark?: string;
}

async function updateBytes(pass: StartedSigning, file: BodySource, io: Io): Promise<BodyFacts> {
  let bytes = 0;
  let last: number | undefined;
  const kept: Uint8Array[] = [];
  await readBodyInput(file, io, (chunk) => {
    pass.update(chunk);
    bytes += chunk.length;
    last = chunk.at(-1) ?? last;
    if (bytes <= LARGEST_PARSED_BYTES) kept.push(new Uint8Array(chunk));
  });
  const isJson = (): boolean => bytes <= LARGEST_PARSED_BYTES && lossOf(Buffer.concat(kept)) === '';
  return { bytes, ...remarkOn(last, isJson) };
}

function remarkOn(lastByte: number | undefined, isJson: () => boolean): { remark?: string } {
  if (lastByte === undefined) return { remark: 'the body is empty; that is what was signed' };
  if (lastByte !== 0x0a) return {};
  const remark = 'the body ends with a newline, which is signed too';
  return { remark: isJson() ? `${remark}; --stringify leaves it out` : remark };
}

/** Maximum bytes of a body that is kept to see whether it is JSON, so that signing takes constant memory. */
const LARGEST_PARSED_BYTES = 1024 * 1024;

/** Maximum bytes of a text that fits into a string. */
const LARGEST_TEXT_BYTES = 256 * 1024 * 1024;

/**
 * Signs the body as `JSON.stringify` writes it. Throws InputError for a body that is not JSON, and ValidationError for JSON
 * that parsing would change, which `send` rejects too.
 */
async function updateStringified(pass: StartedSigning, file: BodySource, io: Io): Promise<BodyFacts> {
  const body = await readWholeBody(file, io, LARGEST_TEXT_BYTES);
  const json = JSON.stringify(readJson(body, { file: isStdin(file) ? undefined : file }));
  pass.update(json);
  return { bytes: Buffer.byteLength(json) };
}
