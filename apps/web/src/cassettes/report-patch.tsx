import { PatchDiff } from "../diff/patch-diff.tsx";

/** The diff of a step, or of the files of a folder, one box per file. */
export function ReportPatch({ lines, label }: { lines: readonly string[]; label: string }) {
  return patchesOf(lines).map(({ name, patch }, index) => (
    <figure key={index} className="overflow-hidden rounded-lg border border-line bg-surface">
      {name !== undefined && (
        <figcaption className="border-b border-line px-3 py-1.5 font-mono text-xs text-ink-soft">{name}</figcaption>
      )}
      <PatchDiff patch={patch} layout="unified" label={name ?? label} />
    </figure>
  ));
}

/** Splits a git patch by its files. A step's diff has no file names, which the renderer needs. */
function patchesOf(lines: readonly string[]): { name: string | undefined; patch: string }[] {
  if (!lines[0]?.startsWith("diff --git ")) {
    const head = ["diff --git a/step b/step", "--- a/step", "+++ b/step"];
    return [{ name: undefined, patch: [...head, ...lines, ""].join("\n") }];
  }
  const starts = lines.flatMap((line, index) => (line.startsWith("diff --git ") ? [index] : []));
  return starts.map((start, index) => ({
    name: / b\/(.+)$/.exec(lines[start]!)?.[1] ?? "file",
    patch: `${lines.slice(start, starts[index + 1]).join("\n")}\n`,
  }));
}
