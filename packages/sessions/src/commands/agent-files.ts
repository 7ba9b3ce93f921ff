import { join } from "node:path";
import type { SubagentDefinition } from "@tandem/claude-code";
import { AGENT_FOLDERS, type FolderConfig, parseFrontMatter } from "@tandem/workspace";
import { z } from "zod";
import { findMarkdown, trustedMarkdown } from "./find-files.ts";

const head = z.object({
  name: z.string().optional(),
  description: z.string().optional(),
  model: z.string().optional(),
  tools: z.union([z.string().transform((names) => names.split(",")), z.array(z.string())]).optional(),
});

/**
 * Agents defined in files: the user's own, and those of a trusted folder. They are subagents of sessions whose agent may call
 * any; their calls are judged like the session's own.
 */
export async function agentsOfFiles(
  trusted: FolderConfig | undefined,
  userFolders: readonly string[],
): Promise<SubagentDefinition[]> {
  const ofFolder = trusted ? AGENT_FOLDERS.flatMap((place) => trustedMarkdown(trusted, place)) : [];
  const own = await Promise.all(userFolders.map((place) => findMarkdown(join(place, "agents"), "")));
  const agents = [...ofFolder, ...own.flat()].flatMap(({ name, text }) => readAgent(name, text));
  // The first file with a name wins.
  return [...new Map(agents.toReversed().map((agent) => [agent.name, agent])).values()];
}

function readAgent(file: string, text: string): SubagentDefinition[] {
  try {
    const { head: fields, body } = parseFrontMatter(text);
    const { name = file.split("/").at(-1) ?? file, description, model, tools } = head.parse(fields);
    if (body === "") return [];
    return [
      {
        name,
        description: description ?? name,
        system: body,
        ...(model !== undefined && model !== "inherit" && { model }),
        ...(tools && { tools: tools.map((tool) => tool.trim()).filter((tool) => tool !== "") }),
      },
    ];
  } catch {
    // Ignore a file whose front matter cannot be parsed.
    return [];
  }
}
