import type {
  Trigger,
  TriggerCreateParams,
  TriggerDelivery,
  TriggerReceipt,
  TriggerUpdateParams,
  TriggerWithSecret,
} from "@tandem/protocol";
import type { InboundDelivery } from "./verify-delivery.ts";

/** Signed deliveries of other services that start runs of a deployment. */
export interface Triggers {
  list(deployment: string): Promise<Trigger[]>;
  /** Here and below, `by` is the caller's name for the audit. */
  create(deployment: string, params: TriggerCreateParams, by?: string, id?: string): Promise<TriggerWithSecret>;
  get(deployment: string, id: string): Promise<Trigger>;
  update(deployment: string, id: string, params: TriggerUpdateParams, by?: string): Promise<Trigger>;
  delete(deployment: string, id: string, by?: string): Promise<void>;
  /** Replaces the secret. Deliveries signed with the former one are refused from now on. */
  rotate(deployment: string, id: string, secret?: string, by?: string): Promise<TriggerWithSecret>;
  /** Newest first: deliveries with a valid signature. */
  deliveries(deployment: string, id: string, limit: number): Promise<TriggerDelivery[]>;
  /**
   * Takes a delivery. Undefined if it is not accepted: for an unknown trigger and for a wrong signature alike. Rejects with
   * `conflict` for a delivery that was taken before, and while the trigger is off or its deployment paused.
   */
  receive(id: string, delivery: InboundDelivery): Promise<TriggerReceipt | undefined>;
}
