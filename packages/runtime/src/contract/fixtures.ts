import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { Rehearsal } from "@tandem/rehearsal";
import { anthropic } from "../backends/ai-sdk/anthropic.ts";
import { createAiSdkBackend } from "../backends/ai-sdk/create-ai-sdk-backend.ts";
import { gateway } from "../backends/ai-sdk/gateway.ts";
import { vertex } from "../backends/ai-sdk/vertex.ts";
import type { BackendFixture } from "./runtime-stage.ts";

const asIs = (name: string) => name;

export const anthropicFixture: BackendFixture = {
  name: "anthropic",
  make: async ({ url }, config) => createAiSdkBackend(anthropic({ apiKey: "made-up", baseUrl: url }), config),
  wireName: asIs,
  wireModel: asIs,
};

export const vertexFixture: BackendFixture = {
  name: "vertex",
  make: async (rehearsal, config) => {
    const folder = mkdtempSync(join(tmpdir(), "tandem-vertex-"));
    const credentials = googleCredentials(rehearsal, folder);
    const settings = { project: "rehearsal", location: "global", credentials, baseUrl: rehearsal.url };
    const close = async () => rmSync(folder, { recursive: true, force: true });
    return { ...createAiSdkBackend(vertex(settings), config), close };
  },
  wireName: asIs,
  wireModel: asIs,
};

export const gatewayFixture: BackendFixture = {
  name: "gateway",
  make: async ({ providerUrls }, config) =>
    createAiSdkBackend(gateway({ apiKey: "made-up", baseUrl: providerUrls.gateway }), config),
  wireName: asIs,
  wireModel: (id) => `anthropic/${id}`,
  exceptions: {
    "Counts the usage that an interrupted answer has reported":
      "A gateway promises to tell the usage of an answer only at its end.",
  },
};

/** A Google credential that names its own token source: here, the rehearsal. */
export function googleCredentials({ url }: Rehearsal, folder: string): string {
  const file = join(folder, "subject-token");
  writeFileSync(file, "made-up");
  return JSON.stringify({
    type: "external_account",
    audience: "//iam.googleapis.com/projects/1/locations/global/workloadIdentityPools/rehearsal/providers/rehearsal",
    subject_token_type: "urn:ietf:params:oauth:token-type:jwt",
    token_url: `${url}/token`,
    credential_source: { file },
  });
}
