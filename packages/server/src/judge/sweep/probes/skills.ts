import { toFile } from "@anthropic-ai/sdk";
import type { Probes, SweepStage } from "../probe.ts";

const files = async () => [
  await toFile(Buffer.from("---\nname: sweep\ndescription: Sweeps.\n---\nSweep.\n"), "sweep/SKILL.md"),
];
const create = async ({ client }: SweepStage) => client.beta.skills.create({ files: await files() });
const addVersion = async ({ client }: SweepStage, skill: string) =>
  client.beta.skills.versions.create(skill, { files: await files() });

export const skills: Probes = {
  "beta.skills.create": {
    run: (_, stage) => create(stage),
    note: "At most 2,000 files. In the front matter, only name and description have an effect.",
  },
  "beta.skills.retrieve": async (client, stage) => client.beta.skills.retrieve((await create(stage)).id),
  "beta.skills.list": {
    run: (client) => client.beta.skills.list({ limit: 2 }),
    note: "Skills of trusted folders have the source `plugin`. There are none of Anthropic's.",
  },
  "beta.skills.delete": async (client, stage) => client.beta.skills.delete((await create(stage)).id),
  "beta.skills.versions.create": async (_, stage) => addVersion(stage, (await create(stage)).id),
  "beta.skills.versions.retrieve": async (client, stage) =>
    client.beta.skills.versions.retrieve("latest", { skill_id: (await create(stage)).id }),
  "beta.skills.versions.list": async (client, stage) => client.beta.skills.versions.list((await create(stage)).id),
  "beta.skills.versions.delete": {
    run: async (client, stage) => {
      const { id } = await create(stage);
      return client.beta.skills.versions.delete((await addVersion(stage, id)).id, { skill_id: id });
    },
    note: "400 for the only version: delete the skill instead.",
  },
  "beta.skills.versions.download": async (client, stage) =>
    client.beta.skills.versions.download("latest", { skill_id: (await create(stage)).id }),
};
