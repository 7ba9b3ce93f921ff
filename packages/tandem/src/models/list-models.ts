import { LlmError } from "@tandem/protocol";
import type { ModelInfo } from "@tandem/runtime";
import { createBackend } from "../compose.ts";
import type { Project } from "../config/load-project.ts";
import type { Host } from "../config/host.ts";

/** Lists the backend's models. Calls no model. */
export async function listModels(host: Host, project: Project, deadlineMs: number): Promise<ModelInfo[]> {
  const deadline = AbortSignal.timeout(deadlineMs);
  const backend = await createBackend(host, project);
  try {
    return await backend.listModels(AbortSignal.any([host.signal, deadline]));
  } catch (cause) {
    if (!deadline.aborted || host.signal.aborted) throw cause;
    throw new LlmError("timeout", `The service did not list its models within ${deadlineMs / 1000} s.`, {
      fix: "Check the network and the proxy (HTTPS_PROXY).",
      cause,
    });
  } finally {
    await backend.close();
  }
}
