import { randomBytes } from "node:crypto";
import { systemClock } from "@tandem/protocol";
import { SecretBox } from "@tandem/storage";
import { scratchStore } from "@tandem/storage/testing/scratch-store";
import { expect, test } from "vitest";
import { TriggerRecords } from "./trigger-records.ts";
import { TriggerService } from "./trigger-service.ts";

const store = await scratchStore();

const warnings: string[] = [];

/** With a key of its own, as after the key file was lost. */
function service(): TriggerService {
  const key = randomBytes(32);
  return new TriggerService({
    records: new TriggerRecords(store.records),
    deployment: async () => ({ archivedAt: null, isPaused: false, enqueue: async () => undefined }),
    secrets: new SecretBox(async () => key),
    note: async () => undefined,
    log: { warn: (_, message) => void warnings.push(message) },
    clock: systemClock,
  });
}

test("a trigger whose secret cannot be read is listed, switched off and gets a new secret", async () => {
  const { id } = await service().create("depl_1", {
    name: "t",
    verification: { type: "github" },
    filter: null,
    message: null,
    enabled: true,
  });
  const later = service();
  expect(await later.list("depl_1")).toMatchObject([{ id, enabled: true }]);
  const inbound = { header: () => undefined, body: Buffer.from("{}") };
  // The sender gets the same answer as with a wrong signature; the log has the reason.
  expect(await later.receive(id, inbound)).toBeUndefined();
  expect(warnings).toEqual(["the secret of a trigger cannot be read"]);
  expect(await later.update("depl_1", id, { enabled: false })).toMatchObject({ enabled: false });
  await later.rotate("depl_1", id);
  expect(await later.receive(id, inbound)).toBeUndefined();
});
