import type { PartOf } from "@tandem/protocol";
import { useFold } from "../fold-state.tsx";
import { useSession } from "../../../state/session-context.ts";
import { describeTool, plural, shortened } from "../../../tool/describe-tool.ts";
import { ToolCard } from "./tool-card.tsx";
import { ToolFrame } from "./tool-frame.tsx";
import { ToolState } from "./tool-state.tsx";

type ToolPart = PartOf<"tool">;

/** Consecutive similar calls as one expandable line. */
export function ToolGroup({ parts }: { parts: readonly ToolPart[] }) {
  const { folder } = useSession();
  const [first] = parts;
  const [isOpen, toggle] = useFold(`${first!.id}:group`, false);
  const running = parts.find(({ state }) => state.type === "running");
  const { kind } = describeTool(first!);
  const names = [...new Set(parts.map((part) => nameOf(part, folder)))].filter(Boolean);
  return (
    <ToolFrame
      kind={kind === "read" ? "search" : kind}
      verb={groupWords(parts)}
      note={names.join(", ")}
      state={running && <ToolState part={running} />}
      isOpen={isOpen}
      onToggle={toggle}
    >
      <div className="px-4 py-1">
        {parts.map((part) => (
          <ToolCard key={part.id} part={part} />
        ))}
      </div>
    </ToolFrame>
  );
}

const nameOf = (part: ToolPart, folder: string | undefined): string =>
  shortened(describeTool(part).subject.split("\n", 1)[0]!, folder);

const timesLabel = (count: number): string => ["once", "twice"][count - 1] ?? `${count} times`;

/** For example "Read 3 files, searched twice". */
function groupWords(parts: readonly ToolPart[]): string {
  const counts = new Map<string, number>();
  for (const { name } of parts) counts.set(name ?? "", (counts.get(name ?? "") ?? 0) + 1);
  const words = [...counts].map(([name, count]) => {
    switch (name) {
      case "Read":
      case "NotebookRead":
        return `read ${plural(count, "file")}`;
      case "Grep":
        return `searched ${timesLabel(count)}`;
      case "Glob":
      case "LS":
        return `listed ${timesLabel(count)}`;
      case "Bash":
        return `ran ${plural(count, "command")}`;
      case "WebFetch":
        return `fetched ${plural(count, "page")}`;
      case "WebSearch":
        return `searched the web ${timesLabel(count)}`;
      default:
        return `${name} ${timesLabel(count)}`;
    }
  });
  const text = words.join(", ");
  return text.charAt(0).toUpperCase() + text.slice(1);
}
