import { hedged } from '../../confidence.ts';
import type { NetworkCause } from '../../transport/cause.ts';
import { PROBED_CAUSES } from './probed-causes.ts';
import { TOLD_CAUSES } from './told-causes.ts';

/** Explains a failure: templates over `CauseFacts` and what probes show. */
type NetworkCauseText = Omit<NetworkCause, 'code'>;

/** Returns the explanation of an error code or cause. Undefined for an unknown one. */
export function networkCauseText(code: string): NetworkCauseText | undefined {
  const row = Object.hasOwn(NETWORK_CAUSES, code) ? NETWORK_CAUSES[code] : undefined;
  if (row === undefined) return undefined;
  const part = (name: string): string | undefined => partsOf(row, name)[0];
  const confidence = (['likely', 'possible'] as const).find((level) => part(level)) ?? 'proved';
  const [says, fix = ''] = [part(confidence), part('fix')];
  return {
    says: says && hedged(says, confidence),
    confidence,
    fix,
    receiverFix: part('receiver') ?? fix,
  };
}

function partsOf(row: string, name: string): readonly string[] {
  return [...row.matchAll(new RegExp(`^ *${name}: (.+)$`, 'gm'))].map(([, text = '']) => text);
}

/** A cause, and what each probe shows if it is the true one. A probe that shows something else rules it out. */
export interface CausePrediction {
  readonly code: string;
  /** The beginning of what each probe shows, by the name of the probe. */
  readonly shows: readonly (readonly [probe: string, pattern: RegExp])[];
  /** The probe that gives `{location}`. */
  readonly location: string | undefined;
}

/** The predictions of all causes, in the order in which they are compared with the probes. */
export function predictions(): readonly CausePrediction[] {
  return Object.entries(NETWORK_CAUSES).flatMap(([code, row]) =>
    partsOf(row, 'if').map((line) => {
      const shows = `${/\bway=/.test(line) ? '' : 'way=direct '}${line}`.split(' ').map((each) => {
        const [, probe = '', pattern = ''] = /^(\w+)=(.+)$/.exec(each) ?? [];
        return [probe, new RegExp(`^(?:${pattern})`)] as const;
      });
      return { code, shows, location: partsOf(row, 'location')[0] };
    }),
  );
}

/** The names of the probes whose results the sentence or fix of a cause quotes. */
export function quotedProbes(code: string): readonly string[] {
  const row = Object.hasOwn(NETWORK_CAUSES, code) ? NETWORK_CAUSES[code] : undefined;
  return [...(row ?? '').matchAll(/\{(\w+)\}/g)].map(([, name = '']) => name);
}

/** Explanations by the error code of a failed attempt (`timeout`), or by its more exact cause (`headers-unfinished`). */
const NETWORK_CAUSES: Readonly<Record<string, string>> = { ...PROBED_CAUSES, ...TOLD_CAUSES };
