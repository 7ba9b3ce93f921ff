import { BookOpen, Brain, ChartLine, Columns3, FileText, type LucideIcon, Table2, TextQuote } from "lucide-react";

interface Kind {
  one: string;
  many: string;
  icon: LucideIcon;
}

/** The kinds of search results. Passages are included, but are no filter of their own. */
export const HIT_KINDS: Readonly<Record<string, Kind>> = {
  page: { one: "Page", many: "Pages", icon: BookOpen },
  metric: { one: "Metric", many: "Metrics", icon: ChartLine },
  memory: { one: "Memory", many: "Memories", icon: Brain },
  table: { one: "Table", many: "Tables", icon: Table2 },
  column: { one: "Column", many: "Columns", icon: Columns3 },
  value: { one: "Values", many: "Values", icon: TextQuote },
  chunk: { one: "Passage", many: "Passages", icon: FileText },
};

export const FILTERS = ["page", "metric", "memory", "table", "column", "value"] as const;
