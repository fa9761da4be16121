// The public library: everything a program may rely on. Options and results are documented where they are declared.

export { createDeliveryPipeline } from './app/pipeline/delivery-pipeline.ts';
export type { Pipeline } from './app/pipeline/pipeline.ts';
export { createTrackingApiPipeline } from './app/pipeline/tracking-api-pipeline.ts';
export type { DeliveryPipelineOptions, TrackingApiPipelineOptions } from './app/pipeline/options.ts';
export type { DestinationInput, SourceInput, SourcesInput } from './app/pipeline/sources-input.ts';
export type { PlanOption } from './app/pipeline/plan-option.ts';
export { loadPlan, type TrackingPlan } from './app/load-plan.ts';
export type { PlanViolation, ViolationKind } from './plan/plan.ts';
export type { DestinationOutcome, Outcome } from './app/pipeline/outcomes.ts';

export {
  syncAudience,
  syncTrait,
  type AudienceChange,
  type SyncAudienceOptions,
  type SyncMembersOptions,
  type SyncSummary,
  type SyncTraitOptions,
  type TraitValue,
} from './app/sync-audience.ts';

export type { Client } from './client/client.ts';
export type * from './client/calls.ts';
export type { ClientOptions } from './client/options.ts';
export type { EnqueueOptions, Receipt } from './client/sink.ts';

export {
  DELIVERY_DEFAULTS,
  type DeliveryOptions,
  type DestinationOptions,
  type SourceOptions,
  type Sources,
  type WebhookOptions,
} from './engine/options.ts';
export type { EngineEvent } from './engine/engine-event.ts';
export type { AttemptRecord } from './attempt-record.ts';
export type { DeadReason, Delivery, DeliveryState } from './queue/delivery.ts';

export { buildMessage, type BuildOptions } from './message/build.ts';
export { encodeBody, toBody } from './message/outgoing-message.ts';
export { readJson, type JsonOrigin } from './message/json/read-json.ts';
export {
  MESSAGE_TYPES,
  type JsonObject,
  type JsonValue,
  type Message,
  type MessageType,
} from './message/types.ts';

export { sign } from './signature/sign.ts';
export { signRequest, type SignRequestOptions } from './signature/schemes/signer.ts';
export type { SchemeChoice } from './signature/schemes/find-schemes.ts';
export type { HeadersInput } from './signature/schemes/header-list.ts';
export type { SignatureScheme } from './signature/schemes/scheme.ts';
export type { VerifyResult, VerifyOptions } from './signature/verify-options.ts';

export { captureBody, type Capture } from './capture/capture.ts';
export { isCapture, readCapture } from './capture/read-capture.ts';
export { toCapture } from './capture/to-capture.ts';

export { startReceiver, verify, Verifier } from './app/explained.ts';
export type { Receiver } from './receiver/receiver.ts';
export type { ReceiverOptions } from './receiver/options.ts';
export type { ReceivedRequest } from './receiver/received-request.ts';

export {
  ClosedError,
  ConfigError,
  HooksError,
  InputError,
  QueueError,
  SignatureError,
  TransportError,
  ValidationError,
  type ErrorCode,
} from './errors.ts';
