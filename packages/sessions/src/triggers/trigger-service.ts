import { randomBytes } from "node:crypto";
import {
  newId,
  pathOf,
  RequestError,
  type AuditNote,
  type DeploymentRunId,
  type Trigger,
  type TriggerCreateParams,
  type TriggerReceipt,
  type TriggerUpdateParams,
  type TriggerWithSecret,
  isoNow,
  type Clock,
} from "@tandem/protocol";
import type { RecordChange, SecretBox } from "@tandem/storage";
import type { Log } from "../host/host-settings.ts";
import type { RunCause } from "./run-cause.ts";
import { readPayload } from "./read-payload.ts";
import { renderMessage } from "./render-message.ts";
import { payloadValues } from "./payload-values.ts";
import type { LoggedDelivery, StoredTrigger } from "./stored-trigger.ts";
import type { TriggerRecords } from "./trigger-records.ts";
import { verifyDelivery, type InboundDelivery, type VerifiedDelivery } from "./verify-delivery.ts";
import { whyIgnored } from "./why-ignored.ts";

interface TriggeredDeployment {
  archivedAt: string | null;
  isPaused: boolean;
  /** Stores a run together with other changes; it starts soon, in a process that can run it. */
  enqueue(run: { by: string; run: DeploymentRunId; cause: RunCause; changes: readonly RecordChange[] }): Promise<void>;
}

interface TriggerDependencies {
  records: TriggerRecords;
  /** Rejects with `not_found`. */
  deployment: (id: string) => Promise<TriggeredDeployment>;
  secrets: SecretBox;
  note: (note: AuditNote) => Promise<void>;
  log: Log;
  clock: Clock;
}

/** Signed deliveries of other services that start runs of a deployment: the operations of clients, and the intake. */
export class TriggerService {
  readonly #dependencies: TriggerDependencies;

  constructor(dependencies: TriggerDependencies) {
    this.#dependencies = dependencies;
  }

  async list(deployment: string): Promise<Trigger[]> {
    await this.#dependencies.deployment(deployment);
    return (await this.#dependencies.records.list(deployment)).map(viewOf);
  }

  /** Here and below, `by` is the caller's name for the audit. */
  async create(
    deployment: string,
    { secret, ...params }: TriggerCreateParams,
    by = "unknown",
    id: string = newId("trigger"),
  ): Promise<TriggerWithSecret> {
    const { records, clock } = this.#dependencies;
    const { archivedAt } = await this.#dependencies.deployment(deployment);
    if (archivedAt !== null) throw new RequestError("invalid_request", `The deployment ${deployment} is archived.`);
    const chosen = secret ?? newSecret(params.verification);
    checkSecret(params.verification, chosen);
    const at = isoNow(clock);
    const sealed = await this.#dependencies.secrets.seal(chosen, id);
    const times = { createdAt: at, updatedAt: at };
    const stored: StoredTrigger = { id, deployment, ...params, secret: sealed, secretVersion: 1, ...times };
    await records.put(stored, 0);
    await this.#note("trigger.created", stored, by);
    return { ...viewOf(stored), secret: secret === undefined ? chosen : null };
  }

  async get(deployment: string, id: string): Promise<Trigger> {
    return viewOf((await this.#find(deployment, id)).value);
  }

  async update(deployment: string, id: string, params: TriggerUpdateParams, by = "unknown"): Promise<Trigger> {
    const { records, clock, secrets } = this.#dependencies;
    const { value, version } = await this.#find(deployment, id);
    const given = Object.fromEntries(Object.entries(params).filter(([, set]) => set !== undefined));
    const next: StoredTrigger = { ...value, ...given, updatedAt: isoNow(clock) };
    // Otherwise an unreadable secret would block every change, also switching the trigger off.
    if (params.verification) checkSecret(next.verification, await secrets.open(value.secret, id));
    await records.put(next, version);
    await this.#note("trigger.updated", next, by);
    return viewOf(next);
  }

  async delete(deployment: string, id: string, by = "unknown"): Promise<void> {
    const { value } = await this.#find(deployment, id);
    await this.#dependencies.records.delete(id);
    await this.#note("trigger.deleted", value, by);
  }

  /** Replaces the secret. Deliveries signed with the former one are refused from now on. */
  async rotate(deployment: string, id: string, secret?: string, by = "unknown"): Promise<TriggerWithSecret> {
    const { records, secrets, clock } = this.#dependencies;
    const { value, version } = await this.#find(deployment, id);
    const chosen = secret ?? newSecret(value.verification);
    checkSecret(value.verification, chosen);
    const sealed = await secrets.seal(chosen, id);
    const next = { ...value, secret: sealed, secretVersion: value.secretVersion + 1, updatedAt: isoNow(clock) };
    await records.put(next, version);
    await records.forgetBefore(next);
    await this.#note("trigger.updated", next, by);
    return { ...viewOf(next), secret: secret === undefined ? chosen : null };
  }

  /** Newest first: deliveries with a valid signature. */
  async deliveries(deployment: string, id: string, limit: number) {
    await this.#find(deployment, id);
    const found = await this.#dependencies.records.logged(id, limit);
    return found.map(({ id: sent, event, at, result, reason, run }) => ({
      type: "trigger_delivery" as const,
      id: sent,
      event,
      received_at: at,
      result,
      reason,
      run_id: run,
    }));
  }

  /**
   * Takes a delivery. Undefined if it is not accepted: for an unknown trigger and for a wrong signature alike. Rejects with
   * `conflict` for a delivery that was taken before, and while the trigger is off or its deployment paused.
   */
  async receive(id: string, inbound: InboundDelivery): Promise<TriggerReceipt | undefined> {
    const { records, secrets, clock, log } = this.#dependencies;
    const found = await records.find(id);
    if (!found) return undefined;
    const trigger = found.value;
    const secret = await secrets.open(trigger.secret, id).catch((error: unknown) => {
      log.warn({ trigger: id, error: String(error) }, "the secret of a trigger cannot be read");
      return undefined;
    });
    // The sender must not learn why.
    if (secret === undefined) return undefined;
    const checked = verifyDelivery(inbound, trigger.verification, secret, clock.now());
    if (!checked.ok) return undefined;
    const { delivery } = checked;
    if (!trigger.enabled) throw conflict(`The trigger ${id} is off.`);
    const payload = readPayload(inbound);
    const earlier = await this.#earlier(trigger, delivery);
    if (earlier) return earlier;
    const reason = whyIgnored(delivery.event, payload, trigger.filter);
    if (reason !== undefined) return this.#logged(trigger, delivery, { result: "ignored", reason, run: null });
    return this.#start(trigger, delivery, {
      trigger: id,
      event: delivery.event,
      text: renderMessage(trigger.message, payload),
      requester: trigger.verification.type === "github" ? requesterOf(payload) : null,
    });
  }

  /** For a delivery that was accepted before: the same bytes are refused, a retry of the sender is confirmed. */
  async #earlier(trigger: StoredTrigger, delivery: VerifiedDelivery): Promise<TriggerReceipt | undefined> {
    const { records } = this.#dependencies;
    const same = await records.accepted(trigger, delivery);
    if (same !== undefined) throw conflict(`This delivery was accepted before: it started the run ${same}.`);
    const run = await records.repeated(trigger, delivery);
    const reason = "The sender has repeated the delivery.";
    return run && { type: "trigger_receipt", result: "ignored", reason, run_id: run };
  }

  async #start(trigger: StoredTrigger, delivery: VerifiedDelivery, cause: RunCause): Promise<TriggerReceipt> {
    const { records, clock } = this.#dependencies;
    const deployment = await this.#dependencies.deployment(trigger.deployment);
    if (deployment.archivedAt !== null) throw conflict(`The deployment ${trigger.deployment} is archived.`);
    if (deployment.isPaused) throw conflict(`The deployment ${trigger.deployment} is paused.`);
    const run = newId("deploymentRun", clock.now());
    const changes = records.accept(trigger, delivery, run, isoNow(clock));
    try {
      await deployment.enqueue({ by: `trigger:${trigger.name}`, run, cause, changes });
    } catch (error) {
      // The same delivery has arrived twice at the same time.
      const earlier = await this.#earlier(trigger, delivery);
      if (earlier) return earlier;
      throw error;
    }
    return this.#logged(trigger, delivery, { result: "accepted", reason: null, run });
  }

  async #logged(
    { id }: StoredTrigger,
    { id: sent, event }: VerifiedDelivery,
    outcome: Pick<LoggedDelivery, "result" | "reason" | "run">,
  ): Promise<TriggerReceipt> {
    const { records, clock } = this.#dependencies;
    await records.log(id, { id: sent, event, at: isoNow(clock), ...outcome }, clock.now());
    const { result, reason, run } = outcome;
    return { type: "trigger_receipt", result, reason, run_id: run };
  }

  async #find(deployment: string, id: string): Promise<{ value: StoredTrigger; version: number }> {
    const found = await this.#dependencies.records.find(id);
    if (found?.value.deployment === deployment) return found;
    throw new RequestError("not_found", `The deployment ${deployment} has no trigger ${id}.`);
  }

  #note(kind: AuditNote["kind"], { id, deployment, name, verification }: StoredTrigger, by: string): Promise<void> {
    const details = { trigger: id, deployment, name, verification: verification.type };
    return this.#dependencies.note({ kind, actor: by, details });
  }
}

function viewOf({ id, deployment, name, verification, filter, message, enabled, ...times }: StoredTrigger): Trigger {
  return {
    type: "trigger",
    id,
    deployment_id: deployment,
    name,
    verification,
    filter,
    message,
    enabled,
    path: pathOf("triggers.deliver").replace(":trigger_id", id),
    created_at: times.createdAt,
    updated_at: times.updatedAt,
  };
}

const newSecret = ({ type }: StoredTrigger["verification"]): string =>
  type === "standard_webhooks" ? `whsec_${randomBytes(32).toString("base64")}` : randomBytes(32).toString("hex");

/** A short key of Standard Webhooks would pass as base64 of anything. */
function checkSecret({ type }: StoredTrigger["verification"], secret: string): void {
  if (type !== "standard_webhooks") return;
  const key = Buffer.from(secret.replace(/^whsec_/, ""), "base64");
  if (key.length >= 16 && secret.startsWith("whsec_")) return;
  throw new RequestError("invalid_request", "secret: expected whsec_ and at least 16 bytes in base64.");
}

const conflict = (message: string): RequestError => new RequestError("conflict", message);

/** The person whose action GitHub reports, in the form that GitHub takes for a co-author. */
function requesterOf(payload: unknown): string | null {
  const [login] = payloadValues(payload, "sender.login");
  const [id] = payloadValues(payload, "sender.id");
  if (
    typeof login !== "string" ||
    typeof id !== "number" ||
    !/^[A-Za-z0-9](?:[A-Za-z0-9-]*[A-Za-z0-9])?$/.test(login)
  ) {
    return null;
  }
  return `${login} <${id}+${login}@users.noreply.github.com>`;
}
