import { TandemError } from "@tandem/protocol";
import { readFile } from "node:fs/promises";
import { cachedConfig } from "./cached-config.ts";
import type { ProjectLocation } from "./find-project.ts";
import type { ParsedConfig } from "./parse/parse-config.ts";
import type { Variables } from "./tandem-home.ts";

export type Project = ProjectLocation & ParsedConfig;

const REASONS: Record<string, { reason: string; fix: string }> = {
  ENOENT: { reason: "it does not exist", fix: "Create it with `tandem setup`." },
  EACCES: { reason: "permission denied", fix: "Make it readable: chmod u+r" },
  EISDIR: { reason: "it is a folder", fix: "Move the folder away and run `tandem setup`." },
  ELOOP: { reason: "its symbolic links form a loop", fix: "Replace the link with a file." },
};

/** Reads and validates a project's `tandem.yaml`. */
export async function loadProject(env: Variables, place: ProjectLocation): Promise<Project> {
  return withConfig(env, place, await readConfigFile(place));
}

/** The project without its file. */
export const defaultProject = (env: Variables, place: ProjectLocation): Promise<Project> => withConfig(env, place, "");

const withConfig = async (env: Variables, place: ProjectLocation, source: string): Promise<Project> => ({
  ...place,
  ...(await cachedConfig(env, { ...place, source })),
});

export async function readConfigFile({ file, displayPath }: ProjectLocation): Promise<string> {
  try {
    return await readFile(file, "utf8");
  } catch (cause) {
    const code = (cause as NodeJS.ErrnoException).code ?? "";
    const { reason, fix } = REASONS[code] ?? { reason: code, fix: "Check the file and its disk." };
    throw new TandemError(
      code === "ENOENT" ? "config_missing" : "config_unreadable",
      `Cannot read ${displayPath}: ${reason}.`,
      { fix: fix.endsWith(".") ? fix : `${fix} ${displayPath}`, cause },
    );
  }
}
