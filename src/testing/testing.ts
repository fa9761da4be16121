// hooks-cli/testing: a receiver and matchers for the messages that a program sends, and signed webhooks to send to it.

export {
  startTestReceiver,
  type TestReceiver,
  type TestReceiverOptions,
  type TestRejection,
  type TestRequest,
  type WaitOptions,
} from './test-receiver.ts';
export { loadPlan, type TrackingPlan } from '../app/load-plan.ts';
export type { PlanViolation, ViolationKind } from '../plan/plan.ts';
export type { MessageMatcher, SentMessage } from './message-matcher.ts';
export { matchers, type HooksMatchers, type MatcherResult } from './matchers.ts';
export { sample, signedRequest, type SignedRequest, type SignedRequestOptions } from './signed-request.ts';
