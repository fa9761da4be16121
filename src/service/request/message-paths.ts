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
