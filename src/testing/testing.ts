// hooks-cli/testing: what a test needs to see what a program sends, and to send it what a webhook is.

export {
  startTestReceiver,
  type TestReceiver,
  type TestReceiverOptions,
  type TestRejection,
  type TestRequest,
  type WaitOptions,
} from './test-receiver.ts';
export type { MessageMatcher, SentMessage } from './message-matcher.ts';
export { matchers, type MatcherResult } from './matchers.ts';
export { sample, signedRequest, type SignedRequest, type SignedRequestOptions } from './signed-request.ts';
