import type { FilePatch } from "@tandem/protocol";
import { type KeyboardEvent, type ReactNode, useMemo, useRef, useState } from "react";
import { Decoration, Diff, getChangeKey, Hunk, type HunkData, markEdits, parseDiff, tokenize } from "react-diff-view";
import { languageOf, useHighlighter } from "../text/use-highlighter.ts";
import { Button } from "../ui/button.tsx";
import {
  countLines,
  cutHunks,
  type DiffLine,
  escapeHiddenInHunks,
  firstHunks,
  hunksOfPatch,
  lineOf,
} from "./diff-file.ts";
import "./diff.css";

export type DiffLayout = "split" | "unified";

export interface PatchDiffProps {
  /** A git patch as text, or a patch of the log. */
  patch: string | FilePatch;
  layout?: DiffLayout;
  label: string;
  /** Content below a line, by the line's key. */
  notes?: Record<string, ReactNode>;
  /** Called when the user picks a line to comment on it. */
  onPick?: (line: DiffLine) => void;
}

/** Above this number of lines, edits within a line are not highlighted, because that would block the page. */
const MAX_COMPARED = 1_500;
const FIRST_LINES = 400;
const MORE_LINES = 2_000;

/** The diff of one file. Up and down move between lines, Enter picks a line for a comment. */
export default function DiffView({ patch, layout = "unified", label, notes, onPick }: PatchDiffProps) {
  const all = useMemo(
    () =>
      cutHunks(escapeHiddenInHunks(typeof patch === "string" ? hunksOfText(patch) : hunksOfPatch(patch)), FIRST_LINES),
    [patch],
  );
  const [mostLines, setMostLines] = useState(FIRST_LINES);
  const hunks = useMemo(() => firstHunks(all, mostLines), [all, mostLines]);
  const language = languageOf(typeof patch === "string" ? pathOfText(patch) : patch.path);
  const highlighter = useHighlighter(language);
  const tokens = useMemo(() => {
    if (countLines(hunks) > MAX_COMPARED) return null;
    const enhancers = [markEdits(hunks, { type: "block" })];
    const colour = (text: string, name: string) => highlighter?.tokensOf(text, name);
    if (language === undefined || !colour("", language)) return tokenize(hunks, { enhancers });
    return tokenize(hunks, { enhancers, highlight: true, language, refractor: { highlight: colour } });
  }, [hunks, highlighter, language]);
  const lines = useMemo(() => (onPick ? hunks.flatMap(({ changes }) => changes) : []), [hunks, onPick]);
  const [cursor, setCursor] = useState<string>();
  const table = useRef<HTMLDivElement>(null);

  if (all.length === 0) return <p className="px-3 py-2 text-sm text-ink-faint">No lines changed.</p>;

  const onKeyDown = (event: KeyboardEvent): void => {
    if (event.target !== event.currentTarget || event.metaKey || event.ctrlKey || event.altKey) return;
    const at = lines.findIndex((change) => getChangeKey(change) === cursor);
    if (event.key === "ArrowDown" || event.key === "ArrowUp") {
      const next = lines[Math.min(Math.max(at + (event.key === "ArrowDown" ? 1 : -1), 0), lines.length - 1)];
      if (next) setCursor(getChangeKey(next));
      requestAnimationFrame(() =>
        table.current?.querySelector(".diff-code-selected")?.scrollIntoView({ block: "nearest" }),
      );
    } else if (event.key === "Enter" && lines[at]) {
      onPick?.({ key: getChangeKey(lines[at]), ...lineOf(lines[at]) });
    } else {
      return;
    }
    event.preventDefault();
  };
  const gutterEvents = onPick && {
    onClick: ({ change }: { change: DiffChange | null }) => {
      if (change) onPick({ key: getChangeKey(change), ...lineOf(change) });
    },
  };
  const left = all.length - hunks.length;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- arrow keys move between lines
    <section
      ref={table}
      aria-label={label}
      tabIndex={0}
      onKeyDown={onPick && onKeyDown}
      className={`overflow-x-auto ${onPick ? "diff-can-comment" : ""}`}
    >
      <Diff
        diffType="modify"
        viewType={layout}
        hunks={hunks}
        tokens={tokens}
        selectedChanges={cursor === undefined ? [] : [cursor]}
        widgets={notes ?? {}}
        {...(gutterEvents && { gutterEvents })}
      >
        {(shown) => shown.flatMap((hunk, index) => pieces(hunk, index))}
      </Diff>
      {left > 0 && (
        <div className="border-t border-line p-1.5 text-center">
          <Button look="quiet" onClick={() => setMostLines(mostLines + MORE_LINES)}>
            Show more of this file ({countLines(all) - countLines(hunks)} lines)
          </Button>
        </div>
      )}
    </section>
  );
}

type DiffChange = HunkData["changes"][number];

const pieces = (hunk: HunkData, index: number): React.ReactElement[] => [
  ...(index === 0 && hunk.oldStart <= 1
    ? []
    : [
        <Decoration key={`at-${hunk.content}`}>
          <HunkHeader hunk={hunk} />
        </Decoration>,
      ]),
  <Hunk key={hunk.content} hunk={hunk} />,
];

/** The function or section that git names for a hunk, without the `@@` range. */
function HunkHeader({ hunk }: { hunk: HunkData }): ReactNode {
  const context = /^@@.*?@@\s*(.*)$/.exec(hunk.content)?.[1] ?? "";
  return (
    <span>
      Line {hunk.newStart}
      {context && <span className="ml-2">{context}</span>}
    </span>
  );
}

const hunksOfText = (text: string): HunkData[] => parseDiff(text, { nearbySequences: "zip" })[0]?.hunks ?? [];

const pathOfText = (text: string): string =>
  /^\+\+\+ b\/(.+)$/m.exec(text)?.[1] ?? /^--- a\/(.+)$/m.exec(text)?.[1] ?? "";
