import type { MessageType } from '../../message/types.ts';

/** The paths below `/v1` that messages are posted to, and their type; the letters are what the browser's and the phones' SDKs use. */
export const MESSAGE_PATHS: Readonly<Record<string, MessageType | undefined>> = {
  batch: undefined,
  import: undefined,
  b: undefined,
  identify: 'identify',
  i: 'identify',
  track: 'track',
  t: 'track',
  page: 'page',
  p: 'page',
  screen: 'screen',
  s: 'screen',
  group: 'group',
  g: 'group',
  alias: 'alias',
  a: 'alias',
};

/** Lets a browser post from any page: it may do what the write key in the page may do. */
export const PREFLIGHT_HEADERS: readonly (readonly [name: string, value: string])[] = [
  ['access-control-allow-origin', '*'],
  ['access-control-allow-methods', 'POST'],
  ['access-control-allow-headers', 'authorization, content-type, content-encoding'],
  ['access-control-max-age', '86400'],
];
