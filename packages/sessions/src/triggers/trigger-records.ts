import { createHash } from "node:crypto";
import { newId, type DeploymentRunId } from "@tandem/protocol";
import { deleteRecords, recordPages, type RecordChange, type Records } from "@tandem/storage";
import {
  acceptedDelivery,
  loggedDelivery,
  storedTrigger,
  type LoggedDelivery,
  type StoredTrigger,
} from "./stored-trigger.ts";
import type { VerifiedDelivery } from "./verify-delivery.ts";

const SPACE = "deployments";
const TRIGGER = "trigger";
/** Signed deliveries that were accepted. */
const ACCEPTED = "trigger_accepted";
const LOG = "trigger_log";
/** Deliveries that the log of a trigger keeps. */
const LOGGED = 200;

/** Triggers and their deliveries in the store. */
export class TriggerRecords {
  readonly #records: Records;

  constructor(records: Records) {
    this.#records = records;
  }

  async find(id: string): Promise<{ value: StoredTrigger; version: number } | undefined> {
    const found = await this.#records.get(SPACE, TRIGGER, id);
    return found && { value: storedTrigger.parse(found.value), version: found.version };
  }

  async list(deployment: string): Promise<StoredTrigger[]> {
    const found: StoredTrigger[] = [];
    for await (const page of recordPages(this.#records, SPACE, TRIGGER)) {
      found.push(...page.map(({ value }) => storedTrigger.parse(value)));
    }
    return found.filter((each) => each.deployment === deployment);
  }

  /** Rejects with `conflict` if the record has another version. */
  async put(trigger: StoredTrigger, version: number): Promise<void> {
    await this.#records.write(SPACE, [{ type: "put", kind: TRIGGER, key: trigger.id, value: trigger, version }]);
  }

  async delete(id: string): Promise<void> {
    await this.#records.write(SPACE, [{ type: "delete", kind: TRIGGER, key: id }]);
    await deleteRecords(this.#records, SPACE, ACCEPTED, { prefix: `${id}/` });
    await deleteRecords(this.#records, SPACE, LOG, { prefix: `${id}/` });
  }

  /** Deliveries signed with an earlier secret need not be remembered. */
  async forgetBefore({ id, secretVersion }: StoredTrigger): Promise<void> {
    for (let version = 1; version < secretVersion; version += 1) {
      await deleteRecords(this.#records, SPACE, ACCEPTED, { prefix: `${id}/${version}/` });
    }
  }

  /** The run that the same signed bytes have started; undefined if they are new. */
  async accepted(trigger: StoredTrigger, { fingerprint }: VerifiedDelivery): Promise<DeploymentRunId | undefined> {
    return this.#acceptedAs(`${prefixOf(trigger)}${fingerprint}`);
  }

  /** The run that a delivery with the same signed id has started: the sender repeats it. */
  async repeated(trigger: StoredTrigger, delivery: VerifiedDelivery): Promise<DeploymentRunId | undefined> {
    const key = signedIdKey(trigger, delivery);
    return key === undefined ? undefined : this.#acceptedAs(key);
  }

  /** The changes that mark a delivery as accepted. They fail with `conflict` if another process was first. */
  accept(trigger: StoredTrigger, delivery: VerifiedDelivery, run: DeploymentRunId, at: string): RecordChange[] {
    const keys = [`${prefixOf(trigger)}${delivery.fingerprint}`, signedIdKey(trigger, delivery)];
    return keys.flatMap((key): RecordChange[] =>
      key === undefined ? [] : [{ type: "put", kind: ACCEPTED, key, value: { run, at }, version: 0 }],
    );
  }

  async log(trigger: string, entry: LoggedDelivery, now: number): Promise<void> {
    const key = `${trigger}/${newId("event", now)}`;
    await this.#records.write(SPACE, [{ type: "put", kind: LOG, key, value: entry }]);
    const old = await this.#records.list(SPACE, LOG, { prefix: `${trigger}/`, order: "desc", limit: LOGGED + 50 });
    const changes = old.slice(LOGGED).map(({ key: gone }) => ({ type: "delete", kind: LOG, key: gone }) as const);
    if (changes.length >= 50) await this.#records.write(SPACE, changes);
  }

  /** Newest first. */
  async logged(trigger: string, limit: number): Promise<LoggedDelivery[]> {
    const found = await this.#records.list(SPACE, LOG, { prefix: `${trigger}/`, order: "desc", limit });
    return found.map(({ value }) => loggedDelivery.parse(value));
  }

  async #acceptedAs(key: string): Promise<DeploymentRunId | undefined> {
    const found = await this.#records.get(SPACE, ACCEPTED, key);
    return found && acceptedDelivery.parse(found.value).run;
  }
}

const prefixOf = ({ id, secretVersion }: StoredTrigger): string => `${id}/${secretVersion}/`;

function signedIdKey(trigger: StoredTrigger, { id, isIdSigned }: VerifiedDelivery): string | undefined {
  if (!isIdSigned || id === null) return undefined;
  return `${prefixOf(trigger)}id:${createHash("sha256").update(id).digest("hex")}`;
}
