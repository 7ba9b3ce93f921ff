/** Added and removed lines. */
export function PatchCount({ added, removed }: { added: number | null; removed: number }) {
  return (
    <span className="text-xs tabular-nums">
      {added === null ? (
        <span className="text-good">new</span>
      ) : (
        added > 0 && (
          <span className="text-good">
            +{added}
            <span className="sr-only"> lines</span>
          </span>
        )
      )}{" "}
      {removed > 0 && (
        <span className="text-bad">
          −{removed}
          <span className="sr-only"> lines</span>
        </span>
      )}
    </span>
  );
}
