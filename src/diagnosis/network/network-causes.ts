import { hedged } from '../../confidence.ts';
import type { NetworkCause } from '../../transport/cause.ts';
import { PROBED_CAUSES } from './probed-causes.ts';
import { TOLD_CAUSES } from './told-causes.ts';

type NetworkCauseText = Omit<NetworkCause, 'code'>;

/** Explains the code of a network error or of its more specific cause. Undefined for an unknown code. */
export function networkCauseText(code: string): NetworkCauseText | undefined {
  const row = Object.hasOwn(NETWORK_CAUSES, code) ? NETWORK_CAUSES[code] : undefined;
  if (row === undefined) return undefined;
  const part = (name: string): string | undefined => partsOf(row, name)[0];
  const confidence = (['likely', 'possible'] as const).find((level) => part(level)) ?? 'proved';
  const [says, fix = ''] = [part(confidence), part('fix')];
  return { says: says && hedged(says, confidence), confidence, fix };
}

function partsOf(row: string, name: string): readonly string[] {
  return [...row.matchAll(new RegExp(`^ *${name}: (.+)$`, 'gm'))].map(([, text = '']) => text);
}

export interface CausePrediction {
  readonly code: string;
  /** Names of tests (PROBES), each with a pattern that the start of its result must match. */
  readonly shows: readonly (readonly [probe: string, pattern: RegExp])[];
}

/** Probes that return facts about the request, without a test. They come first in a prediction and are not quoted. */
export const AT_ONCE: ReadonlySet<string> = new Set(['failed', 'status', 'scheme', 'host', 'way']);

export function predictions(): readonly CausePrediction[] {
  return Object.entries(NETWORK_CAUSES).flatMap(([code, row]) =>
    partsOf(row, 'if').map((line) => {
      const shows = `${/\bway=/.test(line) ? '' : 'way=direct '}${line}`.split(' ').map((each) => {
        const [, probe = '', pattern = ''] = /^(\w+)=(.+)$/.exec(each) ?? [];
        return [probe, new RegExp(`^(?:${pattern})`)] as const;
      });
      return { code, shows: shows.toSorted(([one], [other]) => +AT_ONCE.has(other) - +AT_ONCE.has(one)) };
    }),
  );
}

/** The names of the placeholders in the texts of a cause. Not all of them are names of probes. */
export function quotedProbes(code: string): readonly string[] {
  const row = Object.hasOwn(NETWORK_CAUSES, code) ? NETWORK_CAUSES[code] : undefined;
  return [...(row ?? '').matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

const NETWORK_CAUSES: Readonly<Record<string, string>> = { ...PROBED_CAUSES, ...TOLD_CAUSES };
