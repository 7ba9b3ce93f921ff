import type { PartOf } from "@tandem/protocol";

export function ToolCard({ part }: { part: PartOf<"tool"> }) {
  const output = "output" in part.state ? part.state.output : [];
  return (
    <details className="my-1 rounded-md border border-line bg-surface text-sm">
      <summary className="flex cursor-pointer items-baseline gap-2 px-3 py-1.5">
        <span className="font-medium">{part.name ?? "A tool"}</span>
        <span className="truncate font-mono text-xs text-ink-faint">{brief(part.input)}</span>
        <span className="ml-auto shrink-0 text-xs text-ink-faint">{part.state.type}</span>
      </summary>
      <pre className="max-h-80 overflow-auto border-t border-line px-3 py-2 font-mono text-xs whitespace-pre-wrap">
        {output.map((block) => (block.type === "text" ? block.text : `[${block.type}]`)).join("\n")}
      </pre>
    </details>
  );
}

const brief = (input: Record<string, unknown> | null): string => {
  const first = Object.values(input ?? {}).find((value) => typeof value === "string");
  return typeof first === "string" ? first.split("\n", 1)[0]! : "";
};
