/** Anthropic's types of webhook events. An endpoint may ask for all of them, also for those that Tandem has no use for. */
const ANTHROPIC_WEBHOOK_EVENTS = [
  "session.created",
  "session.pending",
  "session.running",
  "session.idled",
  "session.requires_action",
  "session.archived",
  "session.deleted",
  "session.updated",
  "session.status_run_started",
  "session.status_idled",
  "session.status_rescheduled",
  "session.status_terminated",
  "session.budget_reached",
  "session.thread_created",
  "session.thread_idled",
  "session.thread_terminated",
  "session.outcome_evaluation_ended",
  "agent.created",
  "agent.updated",
  "agent.archived",
  "agent.deleted",
  "environment.created",
  "environment.updated",
  "environment.archived",
  "environment.deleted",
  "memory_store.created",
  "memory_store.archived",
  "memory_store.deleted",
  "deployment.created",
  "deployment.updated",
  "deployment.paused",
  "deployment.unpaused",
  "deployment.archived",
  "deployment.deleted",
  "deployment_run.started",
  "deployment_run.succeeded",
  "deployment_run.failed",
  "vault.created",
  "vault.archived",
  "vault.deleted",
  "vault_credential.created",
  "vault_credential.archived",
  "vault_credential.deleted",
  "vault_credential.refresh_failed",
  "user_profile.enforcement_action_opened",
  "user_profile.enforcement_action_resolved",
  "user_profile.program_status_updated",
] as const;

/** The types that an endpoint may ask for: Anthropic's, and ours with the prefix `tandem.`. */
export const WEBHOOK_EVENTS = [...ANTHROPIC_WEBHOOK_EVENTS, "tandem.approval_requested"] as const;
/** A test goes to one endpoint, even if it does not subscribe to the type. */
export type WebhookEventType = (typeof WEBHOOK_EVENTS)[number] | "tandem.test";

/** A change of a resource, to be sent to the webhook endpoints that want its type. */
export interface Announcement {
  type: WebhookEventType;
  /** The id of the resource that changed. */
  id: string;
  /** The thread, for `session.thread_*`. */
  session_thread_id?: string;
  /** The vault, for `vault_credential.*`. */
  vault_id?: string;
  /** The request, for `tandem.approval_requested`. */
  approval_id?: string;
  /** The event of the session's log that caused it. Not sent. */
  event_id?: string;
}

/** The body of a delivery. It names the resource; a receiver fetches the rest. */
export interface WebhookEvent {
  type: "event";
  /** Starts with `whe_`. The same in every delivery of the event: a receiver can use it to drop duplicates. */
  id: string;
  created_at: string;
  data: Omit<Announcement, "event_id"> & { organization_id: string; workspace_id: string };
}
