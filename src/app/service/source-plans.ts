import type { Clock } from '../../clock.ts';
import type { SourcePlan, Sources } from '../../engine/options.ts';
import { compilePlan, type PlanCheck, type PlanDocument, type PlanViolation } from '../../plan/plan.ts';
import { errorFields, type ServiceLog } from '../../service/log.ts';
import type { PlanGuard } from '../../service/ingest/plan-guard.ts';
import type { Metrics } from '../../service/metrics.ts';
import type { Message } from '../../message/types.ts';
import { LineLimit } from '../../service/line-limit.ts';

/** Reads a tracking plan. Rejects with InputError if it cannot be used. */
export type ReadPlan = (file: string) => Promise<PlanDocument>;

interface LoadedPlan {
  readonly plan: SourcePlan;
  check: PlanCheck;
  /** The events of the plan: label values of metrics, so that the events of callers do not make new time series. */
  events: ReadonlySet<string>;
}

/** The tracking plans of all sources. */
export class SourcePlans {
  readonly #loaded: ReadonlyMap<string, LoadedPlan>;
  readonly #read: ReadPlan;

  private constructor(loaded: ReadonlyMap<string, LoadedPlan>, read: ReadPlan) {
    this.#loaded = loaded;
    this.#read = read;
  }

  /** Loads the plans of all sources. Throws InputError if one cannot be used. */
  static async load(sources: Sources, read: ReadPlan): Promise<SourcePlans> {
    const loaded = new Map<string, LoadedPlan>();
    for (const [source, { plan }] of Object.entries(sources)) {
      if (plan !== undefined) loaded.set(source, { plan, ...(await loadPlan(plan, read)) });
    }
    return new SourcePlans(loaded, read);
  }

  /** Loads all plans again. A plan that cannot be used is logged, and its earlier version stays in force. */
  async reload(log: ServiceLog): Promise<void> {
    for (const [source, loaded] of this.#loaded) {
      const { file } = loaded.plan;
      try {
        Object.assign(loaded, await loadPlan(loaded.plan, this.#read));
        log.info('a tracking plan was loaded again', { source, file });
      } catch (error) {
        log.error('a tracking plan cannot be used; the earlier one stays', {
          source,
          file,
          ...errorFields(error),
        });
      }
    }
  }

  /** Returns the guards for the service. They count each violation, and log at most five a minute of each kind. */
  guard({ log, metrics, clock }: GuardParts): GuardedSources {
    const limit = new LineLimit<ViolationGroup>({
      clock,
      onMore: (group, more) => log.warn('more messages violate the tracking plan', { ...group, more }),
    });
    const entries = [...this.#loaded].map(([source, loaded]): [string, PlanGuard] => {
      const report = (message: Message, { kind, path, expected }: PlanViolation): void => {
        const event = eventLabel(message, loaded.events);
        metrics.planViolation({ source, event, kind });
        if (!limit.getsLine({ source, event, kind })) return;
        // Without the value, which can be a person's data.
        log.warn('a message violates the tracking plan', {
          source,
          event: message.event,
          kind,
          path,
          expected,
        });
      };
      const check = (message: Message): string | undefined => {
        const violations = loaded.check.violations(message);
        for (const each of violations) report(message, each);
        const [first] = violations;
        // Without the value here, too, because the service logs this sentence.
        return first && `Violates the plan at \`${first.path}\`: expected ${first.expected}`;
      };
      return [source, { check, rejects: loaded.plan.onViolation === 'reject' }];
    });
    return { guards: Object.fromEntries(entries), close: () => limit.close() };
  }
}

interface GuardedSources {
  readonly guards: Readonly<Record<string, PlanGuard>>;
  /** Logs the numbers of violations that got no line. */
  readonly close: () => void;
}

interface GuardParts {
  readonly log: ServiceLog;
  readonly metrics: Metrics;
  readonly clock: Clock;
}

interface ViolationGroup {
  readonly source: string;
  readonly event: string;
  readonly kind: string;
}

async function loadPlan({ file }: SourcePlan, read: ReadPlan): Promise<Pick<LoadedPlan, 'check' | 'events'>> {
  const document = await read(file);
  return {
    check: await compilePlan(document),
    events: new Set(document.rules.flatMap(({ event }) => event ?? [])),
  };
}

/** The event of a message if the plan has it. Empty for other events and other types. */
function eventLabel({ event }: Message, events: ReadonlySet<string>): string {
  return event !== undefined && events.has(event) ? event : '';
}
