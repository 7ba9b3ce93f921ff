import type { EngineSettings } from "@tandem/sessions";
import type { Project } from "../config/load-project.ts";

const MB = 1024 * 1024;

/** Settings for checkpoints and compaction. */
export function checkpointSettings({
  config: { checkpoints, sessions },
}: Project): Pick<EngineSettings, "checkpoints" | "compactAt"> {
  const { enabled, maxFiles, maxFileMb, maxTotalMb, keep } = checkpoints;
  const limits = { maxFiles, maxFileBytes: maxFileMb * MB, maxTotalBytes: maxTotalMb * MB, keepMs: keep };
  return {
    ...(enabled && { checkpoints: limits }),
    ...(sessions.compactAt !== undefined && { compactAt: sessions.compactAt }),
  };
}
