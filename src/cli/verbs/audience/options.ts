import type { AudienceKind } from '../../../audience/sync.ts';
import type { GlobalOptions } from '../../command.ts';
import type { StoreFlags } from '../../flags/delivery/queue-flags.ts';
import type { WhereToFlags } from '../../flags/delivery/where-to.ts';

/** The flags of `hooks audience sync` and `hooks trait sync`, as typed. */
export interface SyncFlags extends GlobalOptions, WhereToFlags {
  readonly kind: AudienceKind;
  readonly idColumn?: string;
  readonly valueColumn?: string;
  readonly text?: true;
  readonly maxChange?: string;
  readonly force?: true;
  readonly dryRun?: true;
}

/** The flags of `list`, `show` and `forget` of `hooks audience` and `hooks trait`, as typed. */
export interface OverviewFlags extends GlobalOptions, StoreFlags {
  readonly kind: AudienceKind;
  readonly place?: string;
  readonly members?: true;
}
