import type { SessionRow } from "@tandem/storage";

/** The part of the system prompt that says where the tools run, and which paths the worker provides. */
export function describeWorker({ resources }: Pick<SessionRow, "resources">, skills: readonly string[]): string {
  const memories = resources.flatMap((resource) => {
    if (resource.type !== "memory_store") return [];
    const { mount_path: mount, name, description, instructions, access } = resource;
    const kind = access === "read_only" ? "read-only" : "your changes are saved";
    const words = [description, instructions].filter((text) => text).map((text) => `\n  ${text}`);
    return [`- ${mount} (the memory store ${JSON.stringify(name)}, ${kind})${words.join("")}`];
  });
  const folders = skills.map(
    (name) => `- skills/${name}/SKILL.md (a skill of yours: read it before a task that it is for)`,
  );
  return [
    "# Where your tools run",
    "Your tools run on another machine, in its own working folder. The folder and the platform that this prompt names elsewhere are those of the machine that you are called from, and no tool reaches them. Use relative paths for the working folder; find out about the machine with your tools.",
    ...(memories.length + folders.length > 0 ? ["These paths are there:", ...folders, ...memories] : []),
  ].join("\n");
}
