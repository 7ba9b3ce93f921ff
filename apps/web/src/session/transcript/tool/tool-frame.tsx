import {
  ChevronRight,
  Bot,
  CircleHelp,
  FilePen,
  FilePlus2,
  FileText,
  Globe,
  ListChecks,
  type LucideIcon,
  Map as MapIcon,
  Plug,
  Search,
  SquareTerminal,
  Wrench,
} from "lucide-react";
import type { ReactNode } from "react";
import type { ToolKind } from "../../../tool/describe-tool.ts";

/** A summary line with collapsible details. */
export function ToolFrame({
  kind,
  verb,
  subject,
  note,
  state,
  isOpen,
  onToggle,
  isLoud = false,
  children,
}: {
  kind: ToolKind;
  verb: string;
  subject?: ReactNode;
  note?: ReactNode;
  state?: ReactNode;
  isOpen: boolean;
  onToggle: () => void;
  isLoud?: boolean;
  children?: ReactNode;
}) {
  const hasBody = children !== undefined && children !== null && children !== false;
  const frame = isLoud ? "border-wait" : isOpen && hasBody ? "border-line bg-surface" : "border-transparent";
  return (
    <div className={`my-0.5 -mx-2 overflow-hidden rounded-lg border text-sm ${frame}`}>
      <button
        type="button"
        onClick={onToggle}
        aria-expanded={hasBody ? isOpen : undefined}
        disabled={!hasBody}
        className="flex min-h-7 w-full items-center gap-2 px-2 py-0.5 text-left enabled:hover:bg-raised max-md:min-h-10"
      >
        <ToolIcon kind={kind} />
        <span className="shrink-0 text-ink-soft">{verb}</span>
        {subject !== undefined && subject !== "" && (
          <span className="min-w-0 truncate font-mono text-xs text-ink">{subject}</span>
        )}
        {note !== undefined && <span className="min-w-0 flex-1 basis-0 truncate text-xs text-ink-faint">{note}</span>}
        {state}
        {hasBody && (
          <ChevronRight
            aria-hidden
            className={`size-3.5 shrink-0 text-ink-faint transition-transform ${state === undefined ? "ml-auto" : ""} ${isOpen ? "rotate-90" : ""}`}
          />
        )}
      </button>
      {isOpen && hasBody && <div className="border-t border-line">{children}</div>}
    </div>
  );
}

const ICONS: Readonly<Record<ToolKind, LucideIcon>> = {
  shell: SquareTerminal,
  edit: FilePen,
  write: FilePlus2,
  read: FileText,
  search: Search,
  web: Globe,
  agent: Bot,
  list: ListChecks,
  plan: MapIcon,
  question: CircleHelp,
  mcp: Plug,
  other: Wrench,
};

function ToolIcon({ kind }: { kind: ToolKind }) {
  const Icon = ICONS[kind];
  return <Icon aria-hidden className="size-4 shrink-0 text-ink-faint" />;
}
