import type { MessageType } from '../../message/types.ts';

/**
 * The paths below `/v1` for messages, with their message type; undefined for batches. The SDKs for browsers and phones use
 * the single letters.
 */
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
