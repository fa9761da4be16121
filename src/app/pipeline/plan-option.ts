import { ConfigError, ValidationError } from '../../errors.ts';
import type { Message } from '../../message/types.ts';
import type { PlanViolation } from '../../plan/plan.ts';
import { kindOf, validateOptions } from '../../validate-options.ts';
import type { TrackingPlan } from '../load-plan.ts';

/** A tracking plan, and what happens to messages that violate it. */
export interface PlanOption {
  /** The plan: `await loadPlan('plan.json')`. */
  readonly rules: TrackingPlan;
  /**
   * Treatment of a message that violates the plan. `reject`: its call throws ValidationError and queues nothing. A function
   * is called with the message and its violations, and the message is sent; an error that it throws is thrown by the call.
   */
  readonly onViolation: 'reject' | ((message: Message, violations: readonly PlanViolation[]) => void);
}

/** Throws ConfigError for an option that is unknown, missing or of the wrong kind. */
export function validatePlanOption(plan: PlanOption): void {
  const kinds = { rules: 'an object', onViolation: 'given' } as const;
  validateOptions(plan, {
    setting: 'plan',
    kinds,
    required: ['rules', 'onViolation'],
    otherNames: OTHER_NAMES,
  });
  const { rules, onViolation } = plan;
  if (typeof rules.violations !== 'function') {
    const hint = "pass a loaded plan: { rules: await loadPlan('plan.json'), … }";
    throw new ConfigError('Expected `plan.rules` to be a plan of loadPlan, got another object', {
      key: 'plan.rules',
      hint,
    });
  }
  if (onViolation === 'reject' || typeof onViolation === 'function') return;
  throw new ConfigError(
    `Expected \`plan.onViolation\` to be 'reject' or a function, got ${kindOf(onViolation)}`,
    { key: 'plan.onViolation', hint: 'pass a function to be told of violations' },
  );
}

const OTHER_NAMES = { plan: 'rules', file: 'rules', report: 'onViolation' };

/** Returns the check of each message of a pipeline. It throws ValidationError for a message that the plan rejects. */
export function checkOfPlan({ rules, onViolation }: PlanOption): (message: Message) => void {
  return (message) => {
    const violations = rules.violations(message);
    const [first] = violations;
    if (first === undefined) return;
    if (onViolation !== 'reject') return onViolation(message, violations);
    throw new ValidationError(first.sentence, {
      path: first.path,
      got: first.got.slice(0, 200),
      hint: 'correct the call, or the tracking plan',
    });
  };
}
