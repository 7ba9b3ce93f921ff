import { basename, dirname, join } from "node:path";
import type { SessionResource } from "@tandem/protocol";
import type { SessionRow } from "@tandem/storage";
import { inMounts, isUpload, OUTPUTS } from "./mount-path.ts";

const MAX_LISTED = 50;

/** Whether the system prompt describes `/workspace` and the outputs: the session has resources, or a scratch folder. */
export const hasMounts = ({ id, folder, resources }: Pick<SessionRow, "id" | "folder" | "resources">): boolean =>
  resources.length > 0 || (basename(folder) === id && basename(dirname(folder)) === "scratch");

/** The part of the system prompt that names each mount and its real path. */
export function describeMounts(row: Pick<SessionRow, "id" | "folder" | "resources">): string | undefined {
  if (!hasMounts(row)) return undefined;
  const at = (path: string): string => join(row.folder, path);
  const lines = row.resources.map((resource) => describe(resource, at));
  const more = lines.length - MAX_LISTED;
  return [
    "# Mounted paths",
    "This session's paths are below its working folder. Where a text names the first path, use the second one.",
    `- /workspace: ${row.folder} (the working folder)`,
    `- ${OUTPUTS}: ${at(inMounts(OUTPUTS, row.id))} (create it when needed; files that you write there are handed to the user after each turn)`,
    ...lines.slice(0, MAX_LISTED),
    ...(more > 0 ? [`- and ${more} more, in the same folders`] : []),
  ].join("\n");
}

function describe(resource: SessionResource, at: (path: string) => string): string {
  switch (resource.type) {
    case "file": {
      const { mount_path: mount, tandem } = resource;
      // Older versions stored the real path.
      if (!tandem) return `- ${mount} (a file)`;
      return `- ${mount}: ${at(tandem.path)} (${isUpload(tandem.path) ? "a read-only copy of a file" : "a file"})`;
    }
    case "github_repository": {
      const { mount_path: mount, url, tandem } = resource;
      const state = tandem.commit === undefined ? "could not be cloned yet" : `commit ${tandem.commit}`;
      return `- ${mount}: ${at(tandem.path)} (the git repository ${url}, ${state})`;
    }
    case "memory_store": {
      const { mount_path: mount, name, description, instructions, access, tandem } = resource;
      const kind =
        access === "read_only" ? "read-only: changes are discarded" : "your changes are saved after each turn";
      const words = [description, instructions].filter((text) => text).map((text) => `\n  ${text}`);
      return `- ${mount}: ${at(tandem.path)} (the memory store ${JSON.stringify(name)}, ${kind})${words.join("")}`;
    }
  }
}
