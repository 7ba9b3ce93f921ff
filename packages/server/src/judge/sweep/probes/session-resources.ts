import { toFile } from "@anthropic-ai/sdk";
import type { Probes, SweepStage } from "../probe.ts";

// Sessions share the folder of `env_local`.
let uploads = 0;

const upload = async ({ client }: SweepStage) =>
  (await client.beta.files.upload({ file: await toFile(Buffer.from("x"), `${uploads++}.txt`, { type: "text/plain" }) }))
    .id;

/** A session with one file. */
async function withFile(stage: SweepStage): Promise<{ session: string; resource: string }> {
  const session = await stage.session({ resources: [{ type: "file", file_id: await upload(stage) }] });
  const [resource] = (await stage.client.beta.sessions.resources.list(session)).data;
  return { session, resource: (resource as { id: string }).id };
}

export const sessionResources: Probes = {
  "beta.sessions.resources.retrieve": async (client, stage) => {
    const { session, resource } = await withFile(stage);
    return client.beta.sessions.resources.retrieve(resource, { session_id: session });
  },
  "beta.sessions.resources.list": async (client, stage) =>
    client.beta.sessions.resources.list((await withFile(stage)).session),
  "beta.sessions.resources.update": async (client, stage) => {
    // Nothing is cloned before the first turn.
    const repository = { type: "github_repository" as const, url: "https://github.com/a/b" };
    const session = await stage.session({ resources: [repository] });
    const [first] = (await client.beta.sessions.resources.list(session)).data;
    const resource = (first as { id: string }).id;
    return client.beta.sessions.resources.update(resource, { session_id: session, authorization_token: "new" });
  },
  "beta.sessions.resources.delete": async (client, stage) => {
    const { session, resource } = await withFile(stage);
    return client.beta.sessions.resources.delete(resource, { session_id: session });
  },
  "beta.sessions.resources.add": async (client, stage) =>
    client.beta.sessions.resources.add(await stage.session(), { type: "file", file_id: await upload(stage) }),
};
