import { createGoogleVertexAnthropic } from "@ai-sdk/google-vertex/anthropic";
import { LlmError, type LlmConfig } from "@tandem/protocol";
import { z } from "zod";
import { type Provider, withVersion } from "./provider.ts";

/** `credentials` is the JSON of a Google credential; the default is Google's application default credentials. */
type VertexSettings = LlmConfig["provider"]["vertex"];

/** The address of the project's models, and who calls them. */
export function vertexAddress({ project, location, credentials, baseUrl = googleUrl(location) }: VertexSettings) {
  if (!project) {
    throw new LlmError("not_configured", "The vertex backend needs a Google Cloud project.", {
      fix: "Set llm.provider.vertex.project in tandem.yaml.",
    });
  }
  return {
    project,
    location,
    modelsUrl: `${withVersion(baseUrl)}/projects/${project}/locations/${location}/publishers/anthropic/models`,
    ...(credentials !== undefined && { googleAuthOptions: { credentials: parseCredentials(credentials) } }),
  };
}

export function vertex(settings: VertexSettings): Provider {
  const { modelsUrl, ...account } = vertexAddress(settings);
  // Always explicit; otherwise the AI SDK would read project and location from stray variables.
  const provider = createGoogleVertexAnthropic({ ...account, baseURL: modelsUrl });
  return {
    name: "vertex",
    payer: "google_cloud_project",
    languageModel: (id) => provider.languageModel(id),
    listModels: async () => {
      throw new LlmError("invalid_request", "Vertex AI offers no list of a project's Claude models.", {
        fix: "See the project's Model Garden in the Google Cloud console.",
      });
    },
  };
}

function googleUrl(location: string): string {
  if (location === "global") return "https://aiplatform.googleapis.com";
  if (location === "eu" || location === "us") return `https://aiplatform.${location}.rep.googleapis.com`;
  return `https://${location}-aiplatform.googleapis.com`;
}

function parseCredentials(json: string): Record<string, unknown> {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(json));
  } catch {
    // Without the cause, which would quote the secret.
    throw new LlmError(
      "not_configured",
      "The credentials of the vertex backend are not the JSON of a Google credential.",
      { fix: "Point llm.provider.vertex.credentials at the service account's JSON key." },
    );
  }
}
