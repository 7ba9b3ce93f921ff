import { memo, type ReactNode, useState } from "react";
import { Markdown } from "../../text/markdown.tsx";
import { StatusRow } from "./status-row.tsx";
import { FileBlock } from "./file-block.tsx";
import { PatchRow } from "./patch-row.tsx";
import { ReasoningRow, RedactedRow } from "./reasoning-row.tsx";
import { RowActions } from "./row-actions.tsx";
import { isSameRow, type Row as RowData } from "./rows.ts";
import { SubtaskRow } from "./subtask-row.tsx";
import { doneOf, CollapsedTodos, TodoList } from "./todo-list.tsx";
import { ToolCard } from "./tool/tool-card.tsx";
import { ToolGroup } from "./tool/tool-group.tsx";
import { TurnFooter } from "./turn/turn-footer.tsx";
import { UserRow } from "./user-row.tsx";
import { WorkflowRow } from "./workflow/workflow-row.tsx";

/** Rewound messages are greyed out but stay readable. */
const REWOUND =
  "text-ink [--accent-soft:var(--raised)] [--accent:var(--ink-faint)] [--bad:var(--ink-faint)] [--good:var(--ink-faint)] [--ink-soft:var(--ink-faint)] [--ink:var(--ink-faint)] [--wait:var(--ink-faint)]";

export const Row = memo(
  function Row({ row, isMarked = false, isNested = false }: { row: RowData; isMarked?: boolean; isNested?: boolean }) {
    // Render the actions on first hover or focus only: most rows never need them.
    const [isNear, setNear] = useState(false);
    const near = isNested || isNear ? {} : { onPointerEnter: () => setNear(true), onFocus: () => setNear(true) };
    return (
      <div
        {...near}
        className={`group/row relative ${row.rewound ? REWOUND : ""} ${isMarked ? "-mx-3 rounded-lg bg-wait-soft px-3" : ""}`}
      >
        {content(row)}
        {isNear && <RowActions row={row} />}
      </div>
    );
  },
  (before, after) => before.isMarked === after.isMarked && isSameRow(before.row, after.row),
);

const nested = (row: RowData): ReactNode => <Row key={row.key} row={row} isNested />;

const LANES = { first: "rounded-t", middle: "", last: "rounded-b" } as const;

function content(row: RowData): ReactNode {
  switch (row.type) {
    case "user":
      return <UserRow message={row.message} />;
    case "tool":
      return (
        <div className="relative">
          {row.lane && (
            <span
              className={`absolute inset-y-0 -left-3.5 w-0.5 bg-line ${LANES[row.lane]}`}
              title="Called in parallel"
            />
          )}
          <ToolCard part={row.part} isPlan={row.isPlan} />
        </div>
      );
    case "group":
      return <ToolGroup parts={row.parts} />;
    case "subtask":
      return <SubtaskRow part={row.part} call={row.call} renderRow={nested} />;
    case "footer":
      return <TurnFooter sum={row.sum} miss={row.miss} messages={row.messages} />;
    case "gap":
      return <p className="py-8 text-center text-sm text-ink-faint">Loading …</p>;
    case "part":
      return row.isReplaced && row.part.type === "todo" ? (
        <CollapsedTodos todos={row.part.todos} />
      ) : (
        partContent(row.part)
      );
  }
}

function partContent(part: Extract<RowData, { type: "part" }>["part"]): ReactNode {
  switch (part.type) {
    case "text":
      return (
        <div className="py-1.5 leading-relaxed">
          <Markdown text={part.text} />
        </div>
      );
    case "reasoning":
      return <ReasoningRow part={part} />;
    case "redacted_reasoning":
      return <RedactedRow />;
    case "file":
      return (
        <div className="py-1.5">
          <FileBlock file={part.file} />
        </div>
      );
    case "todo":
      return (
        <div className="py-1.5">
          <p className="mb-1 text-xs text-ink-faint">{doneOf(part.todos)}</p>
          <TodoList todos={part.todos} />
        </div>
      );
    case "patch":
      return <PatchRow part={part} />;
    case "workflow":
      return <WorkflowRow part={part} renderRow={nested} />;
    default:
      return <StatusRow part={part} />;
  }
}
