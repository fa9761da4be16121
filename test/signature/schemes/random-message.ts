import { findSchemes } from '../../../src/signature/schemes/find-schemes.ts';
import { signedFields, Signer } from '../../../src/signature/schemes/signer.ts';
import type { Vendor, VendorHeaders, VendorMessage } from './vendors.ts';

export type Random = () => number;

export function signedHere({ scheme }: Vendor, { body, id, seconds, secret }: VendorMessage): VendorHeaders {
  const signer = new Signer(findSchemes(scheme, { key: 'scheme' }), [secret]);
  const { headers } = signer.sign(body, signedFields(id, seconds * 1000));
  const pairs = headers.flatMap((name, at) => (at % 2 === 0 ? [[name, headers[at + 1] ?? '']] : []));
  return Object.fromEntries(pairs) as VendorHeaders;
}

const TEXTS = [
  'a',
  'é',
  '日本',
  '😀',
  '"',
  '\\',
  '\n',
  '<b>',
  '\u2028',
  '.',
  ':',
  ',',
  '=',
  '$&',
  '{body}',
  '{id}',
  ' ',
];

function randomText(random: Random, most: number): string {
  return Array.from(
    { length: 1 + Math.floor(random() * most) },
    () => TEXTS[Math.floor(random() * TEXTS.length)],
  ).join('');
}

export function randomMessage({ secretKind }: Vendor, random: Random): VendorMessage {
  const bytes = Buffer.from(
    Array.from({ length: 24 + Math.floor(random() * 40) }, () => Math.floor(random() * 256)),
  );
  const indent = random() < 0.2 ? 2 : undefined;
  return {
    body: JSON.stringify({ [randomText(random, 3)]: random(), text: randomText(random, 60) }, null, indent),
    id: `msg_${bytes.toString('hex').slice(0, 27)}`,
    seconds: Math.floor(Date.now() / 1000) + Math.floor(random() * 400) - 200,
    secret:
      secretKind === 'whsec'
        ? `whsec_${bytes.toString('base64')}`
        : `${bytes.toString('hex')}${randomText(random, 3)}`,
  };
}
