import { readFileSync } from 'node:fs';

export interface Vector {
  readonly name: string;
  readonly secret?: string;
  readonly secretBase64?: string;
  readonly body?: string;
  readonly bodyBase64?: string;
  readonly header: string;
  readonly verdict: 'valid' | 'invalid';
  readonly origin: string;
}

const FILE = new URL('../../fixtures/signatures/hmac-sha1.json', import.meta.url);
export const vectors = JSON.parse(readFileSync(FILE, 'utf8')) as readonly Vector[];
export const valid = vectors.filter(({ verdict }) => verdict === 'valid');

export const bodyOf = ({ body, bodyBase64 = '' }: Vector): Buffer =>
  body === undefined ? Buffer.from(bodyBase64, 'base64') : Buffer.from(body);
export const keyOf = ({ secret, secretBase64 = '' }: Vector): Buffer =>
  secret === undefined ? Buffer.from(secretBase64, 'base64') : Buffer.from(secret);
export const digestOf = ({ header }: Vector): string => header.trim().toLowerCase().replace('sha1=', '');
