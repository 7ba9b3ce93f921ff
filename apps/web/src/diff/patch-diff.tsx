import type { FilePatch } from "@tandem/protocol";
import { lazy, Suspense } from "react";
import type { PatchDiffProps } from "./diff-view.tsx";

const DiffView = lazy(() => import("./diff-view.tsx"));

/** The diff of one file. The renderer is a lazy chunk. */
export function PatchDiff(props: PatchDiffProps) {
  return (
    <Suspense fallback={<PlainPatch patch={props.patch} />}>
      <DiffView {...props} />
    </Suspense>
  );
}

const LOOKS: Readonly<Record<string, string>> = { "+": "bg-added", "-": "bg-removed" };

/** Placeholder while the renderer loads: the same lines at the same position, without highlighting. */
function PlainPatch({ patch }: { patch: string | FilePatch }) {
  const lines =
    typeof patch === "string"
      ? patch.slice(Math.max(0, patch.search(/^@@/m))).split("\n")
      : patch.hunks.flatMap((hunk) => hunk.lines);
  return (
    <pre className="overflow-x-auto font-mono text-xs leading-[1.6]">
      {lines.slice(0, 60).map((line, index) => (
        <div key={index} className={`px-[11ch] ${LOOKS[line.charAt(0)] ?? ""}`}>
          {line.slice(1) || " "}
        </div>
      ))}
    </pre>
  );
}
