import {
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
import type { ToolKind } from "../../../tool/describe-tool.ts";

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

export function ToolIcon({ kind }: { kind: ToolKind }) {
  const Icon = ICONS[kind];
  return <Icon aria-hidden className="size-4 shrink-0 text-ink-faint" />;
}
