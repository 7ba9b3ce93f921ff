import { toFile } from "@anthropic-ai/sdk";
import type { Probes, SweepStage } from "../probe.ts";

const upload = async ({ client }: SweepStage) =>
  client.beta.files.upload({ file: await toFile(Buffer.from("plum"), "note.txt", { type: "text/plain" }) });

export const files: Probes = {
  "beta.files.list": (client) => client.beta.files.list(),
  "beta.files.delete": async (client, stage) => client.beta.files.delete((await upload(stage)).id),
  "beta.files.download": async (client, stage) => client.beta.files.download((await upload(stage)).id),
  "beta.files.retrieveMetadata": async (client, stage) => client.beta.files.retrieveMetadata((await upload(stage)).id),
  "beta.files.upload": (_, stage) => upload(stage),
};
